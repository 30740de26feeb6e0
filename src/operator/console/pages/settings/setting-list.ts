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
        name: "Requests per account",
        meaning: "How many requests one account serves at the same moment.",
        standard: "2",
        kind: whole("", 1, 256),
      },
      {
        path: "runtime.global_max_inflight",
        name: "Requests in all",
        meaning: "How many requests are served at the same moment. 0 means accounts × requests per account.",
        standard: "0",
        kind: whole("", 0, 200_000),
      },
      {
        path: "runtime.account_max_queue",
        name: "Waiting requests",
        meaning:
          "How many requests may wait for a slot; beyond that they get 429. 0 means accounts × requests per account.",
        standard: "0",
        kind: whole("", 0, 200_000),
      },
      {
        path: "runtime.account_failovers",
        name: "Other accounts to try",
        meaning:
          "How many other accounts a request is tried with when the provider fails before anything of the answer was seen.",
        standard: "2",
        kind: whole("", 0, 10),
      },
      {
        path: "runtime.token_refresh_interval_hours",
        name: "Refresh account tokens every",
        meaning:
          "How old an account's token may become before it signs in anew. 0 means only when it is refused.",
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
        name: "Ask for thinking",
        meaning: "Appends a text to the last user message while thinking is on.",
        standard: "on",
        kind: { type: "switch" },
      },
      {
        path: "thinking_injection.prompt",
        name: "Thinking text",
        meaning: "The text that is appended. Empty means the built-in one.",
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
        name: "A prompt is long from",
        meaning: "Prompts of at least this many characters are uploaded.",
        standard: "200,000",
        kind: whole("characters", 0, 100_000_000),
      },
      {
        path: "auto_delete.mode",
        name: "Delete chat sessions",
        meaning: "What is deleted at the provider after each answer.",
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
          "Who computes embeddings. The built-in ones are deterministic and know no meaning: for tests.",
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
    title: "What is kept",
    settings: [
      {
        path: "responses.store_ttl_seconds",
        name: "Stored responses",
        meaning: "How long a response of the responses style can be read again.",
        standard: "900",
        kind: whole("seconds", 1, 2_592_000),
      },
      {
        path: "history.limit",
        name: "History",
        meaning: "How many generations are archived. 0 switches the history off.",
        standard: "200",
        kind: whole("", 0, 100_000),
      },
      {
        path: "captures.enabled",
        name: "Capture upstream exchanges",
        meaning: "Keeps what goes to the provider and comes back, with secrets masked. For debugging.",
        standard: "off",
        kind: { type: "switch" },
      },
      {
        path: "captures.limit",
        name: "Captures",
        meaning: "How many exchanges are kept.",
        standard: "20",
        kind: whole("", 1, 1_000),
      },
      {
        path: "captures.max_body_bytes",
        name: "Longest captured body",
        meaning: "Longer bodies are cut.",
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
          "Pass through: the provider gets the key as its own token and decides. Automatic: pass through, but refuse while the gateway has no credential for the provider, which then probably checks none.",
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
        name: "Keep digests of keys only",
        meaning:
          "Keys cannot be read any more, neither here nor in an export, and kept configurations are forgotten. There is no way back for keys that are there.",
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
        name: "Sign-in lasts",
        meaning: "How long a sign-in to this console is good.",
        standard: "24",
        kind: whole("hours", 0.01, 8_760),
      },
    ],
  },
];
