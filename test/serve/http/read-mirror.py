"""Reads a whole mirror as programs for the old service do, and prints what came as JSON.

Arguments: the base URL, and what was stored as a file: one project, one version, one user and words to search.
"""

import json
import sys
from urllib.parse import parse_qsl, urljoin, urlsplit

import requests
import slumber

base, facts_path = sys.argv[1:3]
with open(facts_path) as file:
    facts = json.load(file)
RESOURCES = ["user", "project", "version", "file", "build"]


def read_with_requests():
    """The plain loop: a path of `next` is joined to the address of the server."""
    session = requests.Session()
    records = {}
    for resource in RESOURCES:
        records[resource] = []
        path = "/api/v1/%s/" % resource
        while path:
            reply = session.get(urljoin(base, path))
            reply.raise_for_status()
            assert reply.headers["content-type"] == "application/json", reply.headers
            page = reply.json()
            records[resource] += page["objects"]
            path = page["meta"]["next"]
    return records


def read_with_slumber(api):
    """slumber has no pages: programs pass the parameters of `next` on."""
    records = {}
    for resource in RESOURCES:
        records[resource] = []
        parameters = {"limit": 50, "format": "json"}
        while True:
            page = getattr(api, resource).get(**parameters)
            records[resource] += page["objects"]
            if page["meta"]["next"] is None:
                break
            parameters = dict(parse_qsl(urlsplit(page["meta"]["next"]).query))
    return records


def ask_with_slumber(api, apiv2):
    """One question of each kind."""
    project, version, user = facts["project"], facts["version"], facts["user"]
    try:
        absent = api.build(999999999).get()
    except slumber.exceptions.HttpNotFoundError as error:
        absent = error.response.status_code
    try:
        refused = api.build.get(limit="abc")
    except slumber.exceptions.HttpClientError as error:
        refused = json.loads(error.content)
    try:
        written = api.build.post({"state": "finished"})
    except slumber.exceptions.HttpClientError as error:
        written = error.response.status_code
    return {
        # A slumber API is not asked itself, only what is below it.
        "root": make("/api").v1.get(),
        "schema": api.build.schema.get(),
        "by_id": api.project(project["id"]).get(),
        "by_number": api.project(int(project["id"])).get(),
        "by_slug": api.project(project["slug"]).get(),
        "versions_of": api.version(project["slug"]).get(limit=1000)["objects"],
        "builds_of": api.build(project["slug"]).get(limit=1000)["objects"],
        "project_filter": api.project.get(slug=project["slug"])["objects"],
        "version_filter": api.version.get(slug=version["slug"], project__slug=project["slug"])["objects"],
        "build_filter": api.build.get(project__slug=project["slug"], limit=1000)["objects"],
        "boolean_filter": api.version.get(active=True, limit=1000)["meta"]["total_count"],
        "user_filter": api.user.get(username=user["username"])["objects"],
        "files": api.file.search.get(q=facts["word"])["objects"],
        "anchors": api.file.anchor.get(q=facts["anchor"])["objects"],
        "docs": apiv2.docsearch.get(**facts["docs"])["results"]["hits"],
        "head": api.build.head() in (b"", ""),
        "absent": absent,
        "refused": refused,
        "written": written,
    }


def make(path, **options):
    return slumber.API(base + path, **options)


print(
    json.dumps(
        {
            "requests": read_with_requests(),
            "slumber": read_with_slumber(make("/api/v1/")),
            "without_slash": read_with_slumber(make("/api/v1", append_slash=False)),
            "answers": ask_with_slumber(make("/api/v1/"), make("/api/v2/")),
            "answers_without_slash": ask_with_slumber(
                make("/api/v1", append_slash=False), make("/api/v2", append_slash=False)
            ),
        }
    )
)
