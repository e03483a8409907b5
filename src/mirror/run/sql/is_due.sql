-- A gone record is requested again when it was checked before that moment, or later than now by a wrong clock.
target_key is not null and (status = 'pending'
  or status = 'gone' and checked_at not between :goneBefore::timestamptz and :now::timestamptz)
