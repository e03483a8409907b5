-- The place where the texts of a failed build say what went wrong, and what they say: the last line that looks like an
-- error, of the first of the four texts that has one; else the last line of the first text that is not blank. A
-- line that ends in a colon only announces its message, which is the next line, or after a traceback the next
-- one that is not indented. Where that is missing, another line is better. Lines are counted from the end, 1 for the last.
-- Texts are hostile, and may be megabytes long. So only their last 4,000 characters are read, and each line once. A line, or
-- a sequence of a terminal, costs as much as many characters: beyond 1,000 of them no more characters are read than are left
-- of these 1,000.
CREATE OR REPLACE FUNCTION rollup.locate_error(
  error text, setup_error text, output text, setup text,
  OUT body text, OUT line_from_end int, OUT message_from_end int, OUT excerpt text
)
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
AS $$
DECLARE
  -- Matched without regular expressions, which take ten times as long for a line.
  markers CONSTANT text[] := ARRAY['%error:%', '%fatal:%', '%exception%', '%killed%', '%traceback%', '%out of memory%', '%no space left%'];
  -- A line without the spaces and control characters at its ends.
  visible CONSTANT text := '[^\x01-\x20\x7f-\x9f](?:.*[^\x01-\x20\x7f-\x9f])?';
  names CONSTANT text[] := ARRAY['error', 'setup_error', 'output', 'setup'];
  tails CONSTANT text[] := ARRAY[right(error, 4000), right(setup_error, 4000), right(output, 4000), right(setup, 4000)];
  room int := 1000;
  cost int;
  tail text;
  is_marked boolean;
  lines text[];
  line text;
  -- The next line that is not blank, and the next that is not indented either.
  below int;
  outdented int;
  message int;
  -- The best of the lines so far: 1 for any, 2 for one that announces nothing, 3 for the one.
  best int := 0;
  rank int;
  found text[];
BEGIN
  <<texts>>
  FOR place IN 1..4 LOOP
    tail := tails[place];
    is_marked := lower(tail COLLATE "C") LIKE ANY (markers);
    CONTINUE WHEN is_marked IS NULL OR NOT is_marked AND best > 0;
    IF position(E'\r' IN tail) > 0 THEN tail := translate(replace(tail, E'\r\n', E'\n'), E'\r', E'\n'); END IF;
    cost := cardinality(string_to_array(tail, E'\n')) + cardinality(string_to_array(tail, E'\x1b'));
    IF cost > room THEN tail := right(tail, room); END IF;
    room := greatest(room - cost, 0);
    IF position(E'\x1b' IN tail) > 0 THEN tail := regexp_replace(tail, '\x1b\[[0-9;?]*[ -/]*[@-~]', '', 'g'); END IF;
    lines := string_to_array(tail, E'\n');
    below := NULL;
    outdented := NULL;
    FOR number IN REVERSE cardinality(lines)..1 LOOP
      line := substring(lines[number] FROM visible);
      CONTINUE WHEN line IS NULL;
      rank := 1;
      message := NULL;
      IF is_marked AND lower(line COLLATE "C") LIKE ANY (markers) THEN
        rank := 3;
        IF right(line, 1) = ':' THEN
          message := CASE WHEN lower(line COLLATE "C") LIKE '%traceback%' THEN outdented ELSE below END;
          IF message IS NULL THEN rank := 2; END IF;
        END IF;
      END IF;
      IF rank > best THEN
        best := rank;
        body := names[place];
        line_from_end := cardinality(lines) - number + 1;
        message_from_end := cardinality(lines) - message + 1;
        found := ARRAY[line, substring(lines[message] FROM visible)];
      END IF;
      EXIT texts WHEN best = 3;
      EXIT WHEN NOT is_marked;
      below := number;
      IF left(line, 1) = left(lines[number], 1) THEN outdented := number; END IF;
    END LOOP;
  END LOOP;
  SELECT left(string_agg(btrim(regexp_replace(left(part, 600), '[\x01-\x1f\x7f-\x9f]+', ' ', 'g')), ' ' ORDER BY number), 400) INTO excerpt
  FROM unnest(found) WITH ORDINALITY AS part (part, number);
END
$$;
