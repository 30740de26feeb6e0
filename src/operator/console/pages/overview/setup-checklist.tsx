import { useEffect, useState } from "preact/hooks";
import { listHistory } from "../../api/history.ts";
import type { ProviderView } from "../../api/providers.ts";
import type { Settings } from "../../api/settings.ts";
import { formatHref } from "../../routing.ts";
import { Badge } from "../../ui/badge.tsx";
import { useLoaded } from "../../ui/loading/use-loaded.ts";
import { Panel } from "../../ui/page.tsx";
import { listSetupSteps, type SetupState } from "./setup-steps.ts";
import { texts } from "./texts.ts";

/** Set once all steps are done: later a gateway may have no requests for a while. */
const DONE_KEY = "polygate-set-up";
/** Refresh interval of the checklist while steps are left, milliseconds. */
export const SETUP_REFRESH_MS = 5_000;

/** Whether this browser has shown all steps as done. */
export const isSetUp = () => localStorage.getItem(DONE_KEY) !== null;

interface SetupChecklistProps {
  readonly settings: Settings | null;
  readonly providers: readonly ProviderView[] | null;
  /** Answered requests in the selected time range. */
  readonly answered: number;
}

/** The steps to a first answer. Renders nothing once all are done. */
export function SetupChecklist({ settings, providers, answered }: SetupChecklistProps) {
  const [isDone, setIsDone] = useState(isSetUp);
  if (isDone || settings === null || providers === null) return null;
  const finish = () => {
    localStorage.setItem(DONE_KEY, "1");
    setIsDone(true);
  };
  return <Steps keys={settings.api_keys} providers={providers} answered={answered} onDone={finish} />;
}

interface StepsProps {
  readonly keys: number;
  readonly providers: readonly ProviderView[];
  readonly answered: number;
  readonly onDone: () => void;
}

function Steps({ keys, providers, answered, onDone }: StepsProps) {
  const { data: hasRecord } = useLoaded(hasAnsweredRecord, "", SETUP_REFRESH_MS);
  const steps =
    hasRecord === null
      ? []
      : listSetupSteps({ ...countProviders(providers), keys, hasRequest: hasRecord || answered > 0 });
  const next = steps.find((step) => !step.isDone);
  // A request that was answered shows that the gateway works, however it is set up.
  const isDone = steps.at(-1)?.isDone === true;
  useEffect(() => {
    if (isDone) onDone();
  }, [isDone]);
  if (steps.length === 0 || isDone) return null;
  return (
    <Panel title={texts.setUp}>
      <ol class="bare stack">
        {steps.map((step) => (
          <li key={step.name} aria-current={step === next ? "step" : undefined}>
            <Badge tone={step.isDone ? "good" : step === next ? "live" : "neutral"}>
              {step.isDone ? texts.done : step === next ? texts.next : texts.toDo}
            </Badge>{" "}
            <a href={formatHref(step.page, step.detail)}>{step.name}</a>
          </li>
        ))}
      </ol>
    </Panel>
  );
}

/** The models of a provider that callers can request. The default provider has the gateway's own models. */
function countModels({ read_only, models }: ProviderView): number {
  if (read_only) return 1;
  return Object.values(models).filter((model) => typeof model === "string" || model.enabled !== false).length;
}

/** Counts the enabled providers and their models. */
function countProviders(providers: readonly ProviderView[]): Omit<SetupState, "keys" | "hasRequest"> {
  const enabled = providers.filter((provider) => provider.enabled);
  return {
    providers: enabled.length,
    models: enabled.reduce((sum, provider) => sum + countModels(provider), 0),
    withoutModels: enabled.find((provider) => countModels(provider) === 0)?.id ?? "",
  };
}

/** Whether the history has a request that was answered. */
async function hasAnsweredRecord(signal: AbortSignal): Promise<boolean> {
  return (await listHistory(new URLSearchParams({ status: "success" }), 1, 1, signal)).total > 0;
}
