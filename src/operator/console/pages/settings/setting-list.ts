import { MAX_CAPTURED_BODY, MIN_CAPTURED_BODY } from "../../../../core/config/captured-body-limits.ts";
import { words } from "../../ui/words.ts";
import { texts } from "./texts.ts";

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
    title: texts.load,
    settings: [
      {
        path: "runtime.account_max_inflight",
        name: texts.concurrentRequestsPerAccount,
        meaning: texts.maximumConcurrentRequestsOneAccount,
        standard: "2",
        kind: whole("", 1, 256),
      },
      {
        path: "runtime.global_max_inflight",
        name: texts.totalConcurrentRequests,
        meaning: texts.maximumConcurrentRequestsAllAccounts,
        standard: "0",
        kind: whole("", 0, 200_000),
      },
      {
        path: "runtime.account_max_queue",
        name: texts.queueSize,
        meaning: texts.maximumWaitingRequestsFurtherRequests,
        standard: "0",
        kind: whole("", 0, 200_000),
      },
      {
        path: "runtime.account_failovers",
        name: texts.failoverAttempts,
        meaning: texts.howManyOtherAccountsTried,
        standard: "2",
        kind: whole("", 0, 10),
      },
      {
        path: "runtime.token_refresh_interval_hours",
        name: texts.tokenRefreshInterval,
        meaning: texts.maximumAgeAccountsTokenSign,
        standard: "6",
        kind: whole(texts.hours, 0, 8_760),
      },
    ],
  },
  {
    title: words.requests,
    settings: [
      {
        path: "thinking_injection.enabled",
        name: texts.thinkingInjection,
        meaning: texts.appendsTextToLastUser,
        standard: texts.on,
        kind: { type: "switch" },
      },
      {
        path: "thinking_injection.prompt",
        name: texts.thinkingPrompt,
        meaning: texts.appendedTextEmptyBuiltIn,
        standard: texts.builtIn,
        kind: { type: "text" },
      },
      {
        path: "current_input_file.enabled",
        name: texts.longPromptsAsFiles,
        meaning: texts.uploadsLongPromptAsFile,
        standard: texts.on,
        kind: { type: "switch" },
      },
      {
        path: "current_input_file.min_chars",
        name: texts.longPromptThreshold,
        meaning: texts.promptsAtLeastManyCharacters,
        standard: "200,000",
        kind: whole(texts.characters, 0, 100_000_000),
      },
      {
        path: "auto_delete.mode",
        name: texts.deleteChatSessions,
        meaning: texts.whatDeletedAtProviderAfter,
        standard: texts.nothing,
        kind: {
          type: "choice",
          choices: [
            ["none", texts.nothingTitle],
            ["single", texts.sessionRequest],
            ["all", texts.allSessionsAccount],
          ],
        },
      },
      {
        path: "embeddings.provider",
        name: texts.embeddings,
        meaning: texts.whereEmbeddingsComeFromBuilt,
        standard: texts.off,
        kind: {
          type: "choice",
          choices: [
            ["", texts.offTitle],
            ["builtin", texts.builtInTitle],
            ["upstream", texts.providersOwnEmbeddings],
            ["deterministic", texts.builtInAsDeterministic],
            ["mock", texts.builtInAsMock],
          ],
        },
      },
    ],
  },
  {
    title: texts.storage,
    settings: [
      {
        path: "responses.store_ttl_seconds",
        name: texts.storedResponses,
        meaning: texts.howLongStoredResponsesResponses,
        standard: "900",
        kind: whole(texts.seconds, 1, 2_592_000),
      },
      {
        path: "log.sample",
        name: texts.logSampling,
        meaning: texts.shareSuccessfulRequestsInLog,
        standard: "1",
        kind: { type: "number", unit: "", min: 0, max: 1 },
      },
      {
        path: "history.limit",
        name: words.history,
        meaning: texts.maximumStoredGenerationsHistoryOff,
        standard: "200",
        kind: whole("", 0, 100_000),
      },
      {
        path: "captures.enabled",
        name: texts.captureProviderTraffic,
        meaning: texts.storesRequestsToAndAnswers,
        standard: texts.off,
        kind: { type: "switch" },
      },
      {
        path: "captures.limit",
        name: words.captures,
        meaning: texts.maximumStoredCaptures,
        standard: "20",
        kind: whole("", 1, 1_000),
      },
      {
        path: "captures.max_body_bytes",
        name: texts.maxCapturedBody,
        meaning: texts.longerBodiesTruncated,
        standard: "2,097,152",
        kind: whole(texts.bytes, MIN_CAPTURED_BODY, MAX_CAPTURED_BODY),
      },
    ],
  },
  {
    title: texts.callers,
    settings: [
      {
        path: "callers.unknown_keys",
        name: texts.unknownApiKeys,
        meaning: texts.passThroughKeySentTo,
        standard: texts.automatic,
        kind: {
          type: "choice",
          choices: [
            ["auto", texts.automaticTitle],
            ["pass_through", texts.passThroughToProvider],
            ["refuse", texts.refuse],
          ],
        },
      },
      {
        path: "callers.keys_hashed",
        name: texts.storeKeyDigestsOnly,
        meaning: texts.keysCanNoLongerBe,
        standard: texts.off,
        kind: { type: "switch" },
      },
    ],
  },
  {
    title: texts.administration,
    settings: [
      {
        path: "admin.jwt_expire_hours",
        name: texts.sessionLifetime,
        meaning: texts.howLongSignInTo,
        standard: "24",
        kind: whole(texts.hours, 0.01, 8_760),
      },
    ],
  },
];
