import { isAlmost } from "../../base/config/nearest-names.ts";
import { ConfigError } from "../../base/errors.ts";

/** The parameters of libpq that `database-url.ts` reads. */
const READ = [
  "application_name",
  "connect_timeout",
  "dbname",
  "host",
  "options",
  "password",
  "port",
  "sslcert",
  "sslkey",
  "sslmode",
  "sslrootcert",
  "target_session_attrs",
  "user",
];

/** Others of libpq, with the values that ask for what docmirror does anyway. */
const AS_WE_DO = new Map(
  Object.entries({
    channel_binding: /^(?:disable|prefer)$/,
    client_encoding: /^(?:auto|utf-?8)$/i,
    // It is for programs that give no name. Each command of ours gives one.
    fallback_application_name: /^/,
    gssencmode: /^(?:disable|prefer)$/,
    keepalives: /^1$/,
    load_balance_hosts: /^disable$/,
    max_protocol_version: /^/,
    min_protocol_version: /^3\.0$/,
    ssl_max_protocol_version: /^TLSv1\.3$/,
    ssl_min_protocol_version: /^TLSv1\.2$/,
    sslcertmode: /^allow$/,
    sslcompression: /^0$/,
    sslnegotiation: /^postgres$/,
    sslsni: /^1$/,
    tcp_user_timeout: /^0$/,
  }),
);

const NAMES = [...READ, ...AS_WE_DO.keys()];

const OUT = "leave it out: ";
const NOT_DONE = `${OUT}docmirror does not do what it asks for`;

/** The advice about a parameter that is no setting of a session: of other programs, or of libpq. The first form that fits counts. */
const ADVICE: readonly (readonly [form: RegExp, advice: string])[] = [
  [
    /^(?:use_?)?(?:ssl|tls)$|^sslaccept$/i,
    "write sslmode=require, or sslmode=verify-full to check the server too",
  ],
  [/^(?:current_?)?schema$/i, `${OUT}docmirror has schemas of its own`],
  [
    /^(?:connection_?limit|pool\w*|pgbouncer|prepare\w*|statement_?cache\w*)$/i,
    `${OUT}docmirror opens few connections`,
  ],
  [/^(?:charset|encoding|serverVersion|supa|uselibpqcompat|workaround)$/i, `${OUT}it is for another program`],
  [/^passfile$/, "name a file with the password in DOCMIRROR_DATABASE_PASSWORD_FILE"],
  [/^service(?:file)?$/, "write what it names: host, port, user and dbname"],
  [/^hostaddr$/, "write the address as the host"],
  [/^(?:gss|krb|keepalives_|oauth_|replication$|require|scram_|ssl|tls)/i, NOT_DONE],
];

/**
 * The settings of a session: what is left of the parameters of a URL without those of libpq that ask for what docmirror does
 * anyway. Throws ConfigError for what it does not do, for the parameters of other programs, and for a name that is almost one of
 * libpq's. The server knows the others, or refuses them when a session starts (`toStoreError`).
 */
export function readSettings(params: Iterable<[name: string, value: string]>): Record<string, string> {
  const settings: Record<string, string> = {};
  for (const [name, value] of params) {
    const usual = AS_WE_DO.get(name);
    if (usual?.test(value)) continue;
    const near = NAMES.includes(name) ? undefined : NAMES.find((one) => isAlmost(name, one));
    const advice = near
      ? `write ${near}`
      : (ADVICE.find(([form]) => form.test(name))?.[1] ?? (usual && NOT_DONE));
    const what = usual === undefined ? name : `${name}=${value}`;
    if (advice === undefined) settings[name] = value;
    else
      throw new ConfigError(`read DATABASE_URL: docmirror cannot use its parameter ${what}`, {
        hint: advice,
      });
  }
  return settings;
}
