# SPDX-License-Identifier: Apache-2.0
"""The exception for a request that cannot be met: one line that says why, before anything was started; status 2."""


class Refusal(Exception):
    pass
