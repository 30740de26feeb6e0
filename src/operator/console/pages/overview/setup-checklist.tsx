import { useEffect, useState } from "preact/hooks";
import { listHistory } from "../../api/history.ts";
import { listModels } from "../../api/models.ts";
import { listProviders } from "../../api/providers.ts";
import type { Settings } from "../../api/settings.ts";
import { formatHref } from "../../routing.ts";
import { Badge } from "../../ui/badge.tsx";
import { Panel } from "../../ui/page.tsx";
import { useLoaded } from "../../ui/use-loaded.ts";
import { listSetupSteps, type SetupState } from "./setup-steps.ts";
import { texts } from "./texts.ts";

/** Set once all steps are done: later a gateway may have no requests for a while. */
const DONE_KEY = "polygate-set-up";
const REFRESH_MS = 5_000;

interface SetupChecklistProps {
  readonly settings: Settings | null;
  /** Requests in the selected time range. */
  readonly requests: number;
}

/** The steps to a first answer. Renders nothing once all are done. */
export function SetupChecklist({ settings, requests }: SetupChecklistProps) {
  const [isDone, setIsDone] = useState(() => localStorage.getItem(DONE_KEY) !== null);
  if (isDone || settings === null) return null;
  const finish = () => {
    localStorage.setItem(DONE_KEY, texts.done);
    setIsDone(true);
  };
  return <Steps keys={settings.api_keys} requests={requests} onDone={finish} />;
}

interface StepsProps {
  readonly keys: number;
  readonly requests: number;
  readonly onDone: () => void;
}

function Steps({ keys, requests, onDone }: StepsProps) {
  const { data } = useLoaded(readSetup, "", REFRESH_MS);
  const steps =
    data === null ? [] : listSetupSteps({ ...data, keys, hasRequest: data.hasRequest || requests > 0 });
  const isDone = steps.length > 0 && steps.every((step) => step.isDone);
  useEffect(() => {
    if (isDone) onDone();
  }, [isDone]);
  if (steps.length === 0 || isDone) return null;
  return (
    <Panel title={texts.setUp}>
      <ol class="bare stack">
        {steps.map((step) => (
          <li key={step.page}>
            <Badge tone={step.isDone ? "good" : "neutral"}>{step.isDone ? texts.done : texts.toDo}</Badge>{" "}
            <a href={formatHref(step.page)}>{step.name}</a>
          </li>
        ))}
      </ol>
    </Panel>
  );
}

async function readSetup(signal: AbortSignal): Promise<Omit<SetupState, "keys">> {
  const [providers, models, history] = await Promise.all([
    listProviders(signal),
    listModels(signal),
    listHistory(new URLSearchParams(), 1, 1, signal),
  ]);
  return {
    providers: providers.filter(({ enabled }) => enabled).length,
    models: models.length,
    hasRequest: history.total > 0,
  };
}
