# SPDX-License-Identifier: Apache-2.0
# changes.py — the changes that make mutants: one comparison, operator, constant, condition or result is inverted, or
# one call or assignment is left out. Also reads harmless.txt: mutants that are known to make no difference to any
# promise.
import re
from dataclasses import dataclass
from pathlib import Path

COMMENT = re.compile(r"//.*$")
LITERAL = re.compile(r'"(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)+\'')
# Lines without code at run time, and lines that are checks themselves.
NO_CODE = re.compile(r"^\s*(#|static_assert|using |template|namespace|struct |class |enum |extern|friend|JANUS_ASSERT|JANUS_CHECK|asm|\[\[|:)")
SWAPS = {" == ": [" != "], " != ": [" == "], " < ": [" <= ", " > "], " <= ": [" < "], " > ": [" >= ", " < "], " >= ": [" > "],
         " && ": [" || "], " || ": [" && "], " + ": [" - "], " - ": [" + "], "++": ["--"], "--": ["++"],
         "return true;": ["return false;"], "return false;": ["return true;"], " += ": [" -= "], " -= ": [" += "]}
CALL = re.compile(r"^\s+(?:\(void\))?[\w.:>\[\]*-]+\(.*\);\s*$")
ASSIGNMENT = re.compile(r"^\s+[\w.>\[\]*-]+ (?:[+|&^-]|<<|>>)?= .*;\s*$")
CONDITION = re.compile(r"\bif \((?!constexpr)(.+)\)( \[\[\w+\]\])?( \{| return\b.*;|)\s*$")
SIGNATURE = re.compile(r"^(?:  )?(?:\[\[nodiscard\]\] )?(?:(?:static|inline|constexpr) )*([\w:<>*&]+ )+\*?[\w:]+\([^;]*$")
RETURN = re.compile(r"\breturn ([^;{}]+);")
NUMBER = re.compile(r"(?<![\w.'])(\d+)(?![\w.'])")


@dataclass(frozen=True)
class Mutant:
    file: str
    line: int  # counted from 1
    old: str
    new: str

    @property
    def change(self):
        """The change without its line number, which changes elsewhere in the file would move."""
        return f"{self.file}: {self.old.strip()}  ->  {self.new.strip() or '(nothing)'}"

    def __str__(self):
        return self.change.replace(": ", f":{self.line}: ", 1)


def of_line(file, number, line, returns_bool):
    code = COMMENT.sub("", line)
    if not code.strip() or NO_CODE.match(code):
        return
    masked = LITERAL.sub(lambda text: "\0" * len(text.group()), code)  # same positions, but literals are blanked out
    ending = line[len(line.rstrip("\n")):]

    def changed(start, end, text):
        return Mutant(file, number, code.rstrip(), code[:start] + text + code[end:].rstrip() + ending)

    for sign, others in SWAPS.items():
        for at in re.finditer(re.escape(sign), masked):
            yield from (changed(at.start(), at.end(), other) for other in others)
    for at in NUMBER.finditer(masked):
        value = int(at.group(1))
        yield from (changed(at.start(), at.end(), str(other)) for other in (value + 1, value - 1) if other >= 0)
    if condition := CONDITION.search(masked):
        inside = code[condition.start(1):condition.end(1)]
        yield changed(condition.start(1), condition.end(1), f"!({inside})")
    if (result := RETURN.search(masked)) and returns_bool and result.group(1) not in ("true", "false"):
        yield changed(result.start(1), result.end(1), f"!({code[result.start(1):result.end(1)]})")
    if (CALL.match(masked) or ASSIGNMENT.match(masked)) and not masked.lstrip().startswith(("return", "const ", "auto")):
        yield Mutant(file, number, code.rstrip(), ending)


def of_text(file, text):
    is_long = False  # within a statement of several lines, from which no line can be left out
    returns_bool = False
    for number, line in enumerate(text.splitlines(keepends=True), 1):
        code = COMMENT.sub("", line).rstrip()
        if signature := SIGNATURE.match(code):
            returns_bool = signature.group(1) == "bool "
        for mutant in of_line(file, number, line, returns_bool):
            if not (is_long and not mutant.new.strip()):
                yield mutant
        if code:
            is_long = not code.endswith((";", "{", "}", ":"))


def files_of_rt(root):
    """The files that mutants are made from: the runtime's sources and headers without the public headers."""
    below = [path.relative_to(root) for kind in ("*.cpp", "*.h") for path in Path(root, "rt").rglob(kind)]
    return sorted(str(path) for path in below if path.parts[1] != "include" and len(path.parts) > 2)


def of_files(root, files):
    return [mutant for file in files for mutant in of_text(file, Path(root, file).read_text(encoding="utf-8"))]


def applied(mutant, text):
    lines = text.splitlines(keepends=True)
    lines[mutant.line - 1] = mutant.new
    return "".join(lines)


def read_harmless(text):
    """{change: reason}. A change is a line in the form of Mutant.change; the indented lines below it are the reason."""
    reasons, change = {}, None
    for line in text.splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        if line.startswith(" "):
            reasons[change] = f"{reasons[change]} {line.strip()}".strip()
        else:
            change = line.rstrip()
            reasons[change] = ""
    return reasons
