import { useEffect } from "preact/hooks";
import { useStore } from "../../store.ts";
import { Notice } from "../../ui/notice.tsx";
import { Page } from "../../ui/page.tsx";
import { ActivityCharts } from "./activity-charts.tsx";
import { LeaseTable } from "./lease-table.tsx";
import { recording, startRecording } from "./recording.ts";
import { Slots } from "./slots.tsx";
import { Tiles } from "./tiles.tsx";
import { Warnings } from "./warnings.tsx";

/** How the gateway is doing, at a look. */
export function Overview() {
  const { queue, readings, error } = useStore(recording);
  useEffect(startRecording, []);
  return (
    <Page title="Overview">
      <Warnings queue={queue} />
      {error !== "" && <Notice kind="error">{error}</Notice>}
      <Tiles queue={queue} readings={readings} />
      <Slots queue={queue} />
      <ActivityCharts readings={readings} />
      <LeaseTable queue={queue} />
    </Page>
  );
}
