with resolved as (
  delete from mirror.unresolved_references as reference using :named as named where :isNamed
  returning reference.record_id, reference.position, named.id
)
:fill
