"""
Reads every list of a mirror, and the detail of each list's first record, with the client that was generated from its
description. Arguments: the mirror's address, the slug of a project, and a word of that project's pages. Prints how many
records each list has, as JSON. `mypy --strict` and `pyright` check it.
"""

import json
import sys
from collections.abc import Callable

from docmirror_client import Client
from docmirror_client.api.default import (
    describe_build,
    find_build,
    find_file,
    find_project,
    find_user,
    find_version,
    list_builds,
    list_files,
    list_projects,
    list_users,
    list_versions,
    root,
    search_anchors,
    search_docs,
    search_files,
)
from docmirror_client.models import (
    AnchorHits,
    Build,
    BuildPage,
    DocHits,
    Error,
    File,
    FileHits,
    FilePage,
    Project,
    ProjectPage,
    Root,
    Schema,
    User,
    UserPage,
    Version,
    VersionPage,
)

Page = BuildPage | FilePage | ProjectPage | UserPage | VersionPage
Record = Build | File | Project | User | Version

url, slug, word = sys.argv[1:]
client = Client(base_url=url)


def read_list(read: Callable[[int], object], kind: type[Page], find: Callable[[str], object]) -> int:
    ids: set[str] = set()
    while True:
        page = read(len(ids))
        assert isinstance(page, kind), page
        records: list[Record] = [*page.objects]
        if len(ids) == 0:
            assert find(records[0].id) == records[0]
        ids.update(record.id for record in records)
        if page.meta.next_ is None:
            assert len(ids) == page.meta.total_count
            return len(ids)


counts = {
    "build": read_list(
        lambda offset: list_builds.sync(client=client, limit=1000, offset=offset),
        BuildPage,
        lambda key: find_build.sync(key, client=client),
    ),
    "file": read_list(
        lambda offset: list_files.sync(client=client, limit=1000, offset=offset),
        FilePage,
        lambda key: find_file.sync(key, client=client),
    ),
    "project": read_list(
        lambda offset: list_projects.sync(client=client, limit=1000, offset=offset),
        ProjectPage,
        lambda key: find_project.sync(key, client=client),
    ),
    "user": read_list(
        lambda offset: list_users.sync(client=client, limit=1000, offset=offset),
        UserPage,
        lambda key: find_user.sync(key, client=client),
    ),
    "version": read_list(
        lambda offset: list_versions.sync(client=client, limit=1000, offset=offset),
        VersionPage,
        lambda key: find_version.sync(key, client=client),
    ),
}

project = find_project.sync(slug, client=client)
assert isinstance(project, Project) and isinstance(project.slug, str)
builds = find_build.sync(project.slug, client=client)
assert isinstance(builds, BuildPage)
filtered = list_builds.sync(client=client, project_slug=project.slug, success=True)
assert isinstance(filtered, BuildPage) and all(build.success for build in filtered.objects)

assert isinstance(root.sync(client=client), Root)
assert isinstance(describe_build.sync(client=client), Schema)
files = search_files.sync(client=client, q=word)
assert isinstance(files, FileHits) and isinstance(files.objects[0].text, str)
anchors = search_anchors.sync(client=client, q=word)
assert isinstance(anchors, AnchorHits) and isinstance(anchors.objects[0], str)
docs = search_docs.sync(client=client, q=word, project=project.slug)
assert isinstance(docs, DocHits) and isinstance(docs.results.hits.hits[0].fields.link, str)

refused = list_builds.sync(client=client, limit=-1)
assert isinstance(refused, Error) and "limit" in refused.error
assert find_build.sync_detailed("999999999", client=client).status_code == 404

print(json.dumps(counts))
