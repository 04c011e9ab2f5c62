# SPDX-License-Identifier: Apache-2.0
"""usage: prefix-schema.py SCHEMA CASES FILE...

Checks that a JSON Schema says what the parser does: of the cases in
tests/unit/prefix-cases.json, on which the unit tests run the parser, it takes
those that are right and refuses those that are wrong, but for what it cannot
tell.  Each FILE has to be right.

Prints "ok - ..." or "not ok - ...: why", and exits with 1 if it is not ok.
"""

import json
import sys

try:
    import jsonschema
except ImportError:
    print("skip - the schema says what the parser does: "
          "python3-jsonschema is not installed")
    sys.exit(0)


def differs(is_valid, name, case, value):
    """Returns what is different, or None."""
    expected = "error" not in case or case.get("schema") is False
    if is_valid(value) == expected:
        return None
    return "%s is %s in the schema" % (name, "wrong" if expected else "right")


def check_cases(schema, cases):
    """Returns the differences between the schema and the parser."""
    validator = jsonschema.Draft202012Validator
    entry = validator({"$defs": schema["$defs"], "$ref": "#/$defs/entry"})
    whole = validator(schema)
    found = []
    n_wrong = 0
    for name, case in cases["entries"].items():
        found.append(differs(entry.is_valid, name, case,
                             case["entry"]))
        n_wrong += "error" in case
    for name, case in cases["files"].items():
        found.append(differs(whole.is_valid, name, case,
                             json.loads(case["file"])))
        n_wrong += "error" in case
    if n_wrong < 50:
        found.append("there are only %d wrong cases" % n_wrong)
    return [difference for difference in found if difference]


def main(schema_path, cases_path, *paths):
    with open(schema_path, encoding="utf-8") as f:
        schema = json.load(f)
    with open(cases_path, encoding="utf-8") as f:
        cases = json.load(f)
    jsonschema.Draft202012Validator.check_schema(schema)
    found = check_cases(schema, cases)
    for path in paths:
        with open(path, encoding="utf-8") as f:
            errors = jsonschema.Draft202012Validator(schema).iter_errors(
                json.load(f))
            found += ["%s: %s" % (path, e.message) for e in errors]
    if found:
        print("not ok - the schema says what the parser does:",
              "; ".join(found))
        return 1
    print("ok - the schema says what the parser does")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
