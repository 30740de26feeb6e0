import { texts } from "./texts.ts";

/** What the first steps depend on. */
export interface SetupState {
  readonly providers: number;
  readonly models: number;
  /** Id of a provider that has no models yet; empty: none. */
  readonly withoutModels?: string;
  /** API keys of callers. */
  readonly keys: number;
  /** Whether a request has been answered. */
  readonly hasRequest: boolean;
}

/** One step of the set-up, with the page on which it is done. */
export interface SetupStep {
  readonly name: string;
  readonly page: "providers" | "keys" | "connect";
  /** The part of the page; empty: the whole page. */
  readonly detail: string;
  readonly isDone: boolean;
}

/** The steps to a first answer, in order. */
export function listSetupSteps({
  providers,
  models,
  withoutModels = "",
  keys,
  hasRequest,
}: SetupState): readonly SetupStep[] {
  return [
    { name: texts.addProvider, page: "providers", detail: "", isDone: providers > 0 },
    { name: texts.chooseModels, page: "providers", detail: withoutModels, isDone: models > 0 },
    { name: texts.createApiKey, page: "keys", detail: "", isDone: keys > 0 },
    { name: texts.sendFirstRequest, page: "connect", detail: "", isDone: hasRequest },
  ];
}
