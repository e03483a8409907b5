"""Merges exports by deploy/spark/merge.py in one process, and prints as JSON what the tables then say of each export."""
import json
import sys

merge_folder, exports, namespace, *nights = sys.argv[1:]
sys.path.insert(0, merge_folder)

import merge  # noqa: E402

spark = merge.start_session()
for night in nights:
    merge.merge(spark, f"{exports}/{night}", namespace)

facts = f"{namespace}.fact_builds"
snapshots = spark.sql(f"select snapshot_id, summary from {facts}.snapshots order by committed_at").collect()
answers = []
for snapshot in snapshots:
    months = spark.sql(
        f"""select triggered_month as month, count(*) as builds, count(succeeded) as finished, sum(succeeded) as succeeded, max(project_id) as project
        from {facts} version as of {snapshot.snapshot_id} group by triggered_month order by triggered_month"""
    )
    answers.append({
        "exported_at": snapshot.summary.get("docmirror.exported_at"),
        "run_id": snapshot.summary.get("docmirror.run_id"),
        "files": int(snapshot.summary.get("added-data-files", "0")),
        "months": [row.asDict() for row in months.collect()],
    })

last = f"{exports}/{nights[-1]}"
differences = {}
for name in ("fact_builds", "dim_projects", "dim_versions", "dim_dates", "fact_months", "as_of"):
    written = spark.read.parquet(f"{last}/{name}")
    merged = spark.table(f"{namespace}.{name}").select(written.columns)
    differences[name] = written.exceptAll(merged).count() + merged.exceptAll(written).count()
print("ANSWER " + json.dumps({"snapshots": answers, "differences": differences, "columns": spark.table(facts).columns}))
spark.stop()
