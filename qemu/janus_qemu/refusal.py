# SPDX-License-Identifier: Apache-2.0
"""Something that cannot be done, said in one line before anything has begun: status 2."""


class Refusal(Exception):
    pass
