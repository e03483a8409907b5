not exists (select from mirror.files where files.id = content.file_id and files.deleted_at is not null)
and not exists (
  select from mirror.projects where projects.id = content.project_id and projects.deleted_at is not null
)
:ofProject :ofVersion
