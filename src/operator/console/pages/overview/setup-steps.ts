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
    { name: "Add a provider", page: "providers", isDone: providers > 0 },
    { name: "Choose models", page: "models", isDone: models > 0 },
    { name: "Create an API key", page: "keys", isDone: keys > 0 },
    { name: "Send a first request", page: "connect", isDone: hasRequest },
  ];
}
