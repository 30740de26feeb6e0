import { MAX_CAPTURED_BODY, MIN_CAPTURED_BODY } from "../../../../core/config/captured-body-limits.ts";

/** How a setting is edited. */
export type SettingKind =
  | {
      readonly type: "number";
      /** Empty if the name implies the unit. */
      readonly unit: string;
      readonly min: number;
      readonly max: number;
    }
  | { readonly type: "switch" }
  | { readonly type: "text" }
  | { readonly type: "choice"; readonly choices: readonly (readonly [value: string, name: string])[] };

/** A runtime setting: its path, description and default. */
export interface Setting {
  /** `group.field` of `GET /admin/settings`. */
  readonly path: string;
  readonly name: string;
  readonly meaning: string;
  /** The default, as a text for the user. */
  readonly standard: string;
  readonly kind: SettingKind;
}

/** A group of related settings. */
export interface SettingGroup {
  readonly title: string;
  readonly settings: readonly Setting[];
}

const whole = (unit: string, min: number, max: number): SettingKind => ({ type: "number", unit, min, max });

/** All runtime settings except the aliases, which have their own page. */
export const SETTING_GROUPS: readonly SettingGroup[] = [
  {
    title: "Load",
    settings: [
      {
        path: "runtime.account_max_inflight",
        name: "Concurrent requests per account",
        meaning: "Maximum concurrent requests of one account.",
        standard: "2",
        kind: whole("", 1, 256),
      },
      {
        path: "runtime.global_max_inflight",
        name: "Total concurrent requests",
        meaning: "Maximum concurrent requests of all accounts. 0: accounts × requests per account.",
        standard: "0",
        kind: whole("", 0, 200_000),
      },
      {
        path: "runtime.account_max_queue",
        name: "Queue size",
        meaning: "Maximum waiting requests. Further requests get 429. 0: accounts × requests per account.",
        standard: "0",
        kind: whole("", 0, 200_000),
      },
      {
        path: "runtime.account_failovers",
        name: "Failover attempts",
        meaning: "How many other accounts are tried when the provider fails before the answer begins.",
        standard: "2",
        kind: whole("", 0, 10),
      },
      {
        path: "runtime.token_refresh_interval_hours",
        name: "Token refresh interval",
        meaning: "Maximum age of an account's token. 0: sign in again only when the token is refused.",
        standard: "6",
        kind: whole("hours", 0, 8_760),
      },
    ],
  },
  {
    title: "Requests",
    settings: [
      {
        path: "thinking_injection.enabled",
        name: "Thinking injection",
        meaning: "Appends a text to the last user message while thinking is on.",
        standard: "on",
        kind: { type: "switch" },
      },
      {
        path: "thinking_injection.prompt",
        name: "Thinking prompt",
        meaning: "The appended text. Empty: the built-in text.",
        standard: "built-in",
        kind: { type: "text" },
      },
      {
        path: "current_input_file.enabled",
        name: "Long prompts as files",
        meaning: "Uploads a long prompt as a file instead of sending it as text.",
        standard: "on",
        kind: { type: "switch" },
      },
      {
        path: "current_input_file.min_chars",
        name: "Long prompt threshold",
        meaning: "Prompts of at least this many characters are uploaded.",
        standard: "200,000",
        kind: whole("characters", 0, 100_000_000),
      },
      {
        path: "auto_delete.mode",
        name: "Delete chat sessions",
        meaning: "What is deleted at the provider after an answer.",
        standard: "nothing",
        kind: {
          type: "choice",
          choices: [
            ["none", "Nothing"],
            ["single", "The session of that request"],
            ["all", "All sessions of the account"],
          ],
        },
      },
      {
        path: "embeddings.provider",
        name: "Embeddings",
        meaning:
          "Where embeddings come from. The built-in ones are deterministic and without meaning, for tests.",
        standard: "off",
        kind: {
          type: "choice",
          choices: [
            ["", "Off (501)"],
            ["builtin", "Built-in"],
            ["deterministic", "Built-in, as “deterministic”"],
            ["mock", "Built-in, as “mock”"],
          ],
        },
      },
    ],
  },
  {
    title: "Storage",
    settings: [
      {
        path: "responses.store_ttl_seconds",
        name: "Stored responses",
        meaning: "How long stored responses (responses style) are available.",
        standard: "900",
        kind: whole("seconds", 1, 2_592_000),
      },
      {
        path: "log.sample",
        name: "Log sampling",
        meaning: "Share of successful requests in the log. 1: all. Errors are always logged.",
        standard: "1",
        kind: { type: "number", unit: "", min: 0, max: 1 },
      },
      {
        path: "history.limit",
        name: "History",
        meaning: "Maximum stored generations. 0: history off.",
        standard: "200",
        kind: whole("", 0, 100_000),
      },
      {
        path: "captures.enabled",
        name: "Capture provider traffic",
        meaning: "Stores requests to and answers of the provider for debugging. Secrets are masked.",
        standard: "off",
        kind: { type: "switch" },
      },
      {
        path: "captures.limit",
        name: "Captures",
        meaning: "Maximum stored captures.",
        standard: "20",
        kind: whole("", 1, 1_000),
      },
      {
        path: "captures.max_body_bytes",
        name: "Max captured body",
        meaning: "Longer bodies are truncated.",
        standard: "2,097,152",
        kind: whole("bytes", MIN_CAPTURED_BODY, MAX_CAPTURED_BODY),
      },
    ],
  },
  {
    title: "Callers",
    settings: [
      {
        path: "callers.unknown_keys",
        name: "Unknown API keys",
        meaning:
          "Pass through: the key is sent to the provider as its token. Automatic: pass through, but refuse while the gateway has no credential for the provider.",
        standard: "automatic",
        kind: {
          type: "choice",
          choices: [
            ["auto", "Automatic"],
            ["pass_through", "Pass through to the provider"],
            ["refuse", "Refuse"],
          ],
        },
      },
      {
        path: "callers.keys_hashed",
        name: "Store key digests only",
        meaning:
          "Keys can no longer be read, here or in exports, and saved configurations are deleted. Cannot be undone for existing keys.",
        standard: "off",
        kind: { type: "switch" },
      },
    ],
  },
  {
    title: "Administration",
    settings: [
      {
        path: "admin.jwt_expire_hours",
        name: "Session lifetime",
        meaning: "How long a sign-in to this console is valid.",
        standard: "24",
        kind: whole("hours", 0.01, 8_760),
      },
    ],
  },
];
