import { useEffect } from "preact/hooks";
import { readConfig } from "../../api/config.ts";
import { readSettings } from "../../api/settings.ts";
import { useStore } from "../../store.ts";
import { Page } from "../../ui/page.tsx";
import { Problem } from "../../ui/problem.tsx";
import { type Loaded, useLoaded } from "../../ui/use-loaded.ts";
import { ActivityCharts } from "./activity-charts.tsx";
import { LeaseTable } from "./lease-table.tsx";
import { recording, startRecording } from "./recording.ts";
import { Slots } from "./slots.tsx";
import { Tiles } from "./tiles.tsx";
import { Warnings } from "./warnings.tsx";

/** How often settings and configuration are read anew, for the warnings. */
const REFRESH_MS = 300_000;

/** How the gateway is doing, at a look. */
export function Overview() {
  const { queue, readings, error } = useStore(recording);
  const settings = useLoaded(readSettings, "", REFRESH_MS);
  const config = useLoaded(readConfig, "", REFRESH_MS);
  useEffect(startRecording, []);
  // All at once, so that a warning which comes late pushes nothing down.
  const known = ({ data, error: failure }: Loaded<unknown>) => data !== null || failure !== "";
  const ready = (queue !== null || error !== "") && known(settings) && known(config);
  if (!ready) return <Page title="Overview">{null}</Page>;
  return (
    <Page title="Overview">
      <Warnings queue={queue} settings={settings.data} config={config.data} />
      <Problem error={error} />
      <Tiles queue={queue} readings={readings} />
      <ActivityCharts readings={readings} />
      <Slots queue={queue} />
      <LeaseTable queue={queue} />
    </Page>
  );
}
