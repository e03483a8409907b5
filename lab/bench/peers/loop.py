"""A plain loop: one list after the other, one upsert of JSON for each page. Takes the service's URL and that of Postgres, the
records of a page, and the requests a second, 0 for no limit."""

import json
import sys
import time
from urllib.parse import urljoin

import psycopg
import requests

RESOURCES = ["user", "project", "version", "file", "build"]

service, database, limit, rate = sys.argv[1:]
session = requests.Session()
turn = 0.0

with psycopg.connect(database, autocommit=True) as connection:
    for resource in RESOURCES:
        table = f"{resource}s"
        connection.execute(f"create table if not exists {table} (id text primary key, record jsonb not null)")
        upsert = f"""
            insert into {table} (id, record)
            select record->>'id', record from jsonb_array_elements(%s::jsonb) as page (record)
            on conflict (id) do update set record = excluded.record"""
        url = f"{service}/api/v1/{resource}/?format=json&limit={limit}"
        while url:
            if rate != "0":
                time.sleep(max(0, turn - time.monotonic()))
                turn = time.monotonic() + 1 / float(rate)
            reply = session.get(url, timeout=30)
            reply.raise_for_status()
            page = reply.json()
            connection.execute(upsert, [json.dumps(page["objects"])], prepare=True)
            following = page["meta"]["next"]
            url = urljoin(url, following) if following else None
