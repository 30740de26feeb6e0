import { texts } from "./texts.ts";
/** What the first steps depend on. */
export interface SetupState {
  readonly providers: number;
  readonly models: number;
  /** API keys of callers. */
  readonly keys: number;
  /** Whether a request has been answered. */
  readonly hasRequest: boolean;
}

/** One step of the set-up, with the page on which it is done. */
export interface SetupStep {
  readonly name: string;
  readonly page: "providers" | "models" | "keys" | "connect";
  readonly isDone: boolean;
}

/** The steps to a first answer, in order. */
export function listSetupSteps({ providers, models, keys, hasRequest }: SetupState): readonly SetupStep[] {
  return [
    { name: texts.addProvider, page: "providers", isDone: providers > 0 },
    { name: texts.chooseModels, page: "models", isDone: models > 0 },
    { name: texts.createApiKey, page: "keys", isDone: keys > 0 },
    { name: texts.sendFirstRequest, page: "connect", isDone: hasRequest },
  ];
}
