"""Calls dbt several times in one process, because a session of Spark takes long to start, and each time brings an export to its place before.
Writes as JSON which months each call computed for each table by month, by the SQL that ran."""
import json
import os
import re
import sys

from dbt.cli.main import dbtRunner


def main() -> None:
    computed = []
    place, calls = sys.argv[1], json.loads(sys.argv[2])
    for export, arguments in calls:
        os.symlink(export, f"{place}.new")
        os.replace(f"{place}.new", place)
        ran = dbtRunner().invoke(arguments)
        if not ran.success:
            sys.exit(f"dbt failed: {ran.exception}")
        names = {one.node.name: re.search(r"where month in \('none'(.*)\)", one.node.compiled_code or "") for one in ran.result}
        computed.append({name: sorted(re.findall(r"'([^']+)'", found[1])) for name, found in names.items() if found})
    with open(f"{place}.json", "w") as file:
        json.dump(computed, file)


# dbt starts processes that import this file.
if __name__ == "__main__":
    main()
