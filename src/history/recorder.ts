import type { Caller } from "../auth/callers.ts";
import type { GenerationRecorder } from "../generation/recorder.ts";
import type { Context } from "../http/context.ts";

const NOTHING: GenerationRecorder = {
  begin: () => undefined,
  account: () => undefined,
  progress: () => undefined,
  end: () => undefined,
};

/** The recorder of one generation. */
export function historyRecorder(_context: Context, _caller: Caller): GenerationRecorder {
  return NOTHING;
}
