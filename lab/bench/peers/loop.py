"""A plain loop: one list after the other, one upsert of JSON for each page. Takes the service's URL and that of Postgres."""

import json
import sys
from urllib.parse import urljoin

import psycopg
import requests

RESOURCES = ["user", "project", "version", "file", "build"]

service, database = sys.argv[1:]
session = requests.Session()

with psycopg.connect(database, autocommit=True) as connection:
    for resource in RESOURCES:
        table = f"{resource}s"
        connection.execute(f"create table if not exists {table} (id text primary key, record jsonb not null)")
        upsert = f"""
            insert into {table} (id, record)
            select record->>'id', record from jsonb_array_elements(%s::jsonb) as page (record)
            on conflict (id) do update set record = excluded.record"""
        url = f"{service}/api/v1/{resource}/?format=json&limit=100"
        while url:
            reply = session.get(url, timeout=30)
            reply.raise_for_status()
            page = reply.json()
            connection.execute(upsert, [json.dumps(page["objects"])], prepare=True)
            following = page["meta"]["next"]
            url = urljoin(url, following) if following else None
