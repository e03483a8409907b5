"""A dlt pipeline with its source for REST APIs. Takes the service's URL, that of Postgres, a folder for its state, and how rows are merged."""

import sys

import dlt
from dlt.sources.rest_api import rest_api_resources

RESOURCES = ["user", "project", "version", "file", "build"]

service, database, folder, strategy = sys.argv[1:]

resources = rest_api_resources(
    {
        "client": {
            "base_url": f"{service}/api/v1/",
            "paginator": {"type": "json_link", "next_url_path": "meta.next"},
        },
        "resource_defaults": {
            "primary_key": "id",
            "write_disposition": {"disposition": "merge", "strategy": strategy},
            "parallelized": True,
        },
        "resources": [
            {
                "name": resource,
                "endpoint": {
                    "path": f"{resource}/",
                    "params": {"format": "json", "limit": 100},
                    "data_selector": "objects",
                },
            }
            for resource in RESOURCES
        ],
    }
)
pipeline = dlt.pipeline(
    pipeline_name="peer",
    pipelines_dir=folder,
    destination=dlt.destinations.postgres(database),
    dataset_name="peer",
)
load = pipeline.run(resources)
load.raise_on_failed_jobs()
