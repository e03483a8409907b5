#!/bin/sh
# Makes the password files that docker-compose.yml reads, in ./secrets or the folder that is named. A file that
# is there stays. Any characters may be in them, but newlines at their end do not count.
set -eu
folder=${1:-secrets}
mkdir -p "$folder"
# Compose mounts each file as it is, for the accounts of several images. So the files are readable, and the folder
# keeps the other users of this machine out.
chmod 700 "$folder"
for name in superuser_password database_password worker_password reader_password grafana_password; do
  [ -e "$folder/$name" ] && continue
  password=$(openssl rand -base64 24)
  printf '%s\n' "$password" > "$folder/$name"
  chmod 444 "$folder/$name"
  echo "made $folder/$name"
done
