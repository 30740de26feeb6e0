import { useState } from "preact/hooks";
import { clearCaptures, listCaptures, saveSample } from "../../api/captures.ts";
import { changeSettings } from "../../api/settings.ts";
import { navigateTo } from "../../routing.ts";
import { Button } from "../../ui/button.tsx";
import { Empty } from "../../ui/empty.tsx";
import { LoadState } from "../../ui/loading/load-state.tsx";
import { Problem } from "../../ui/loading/problem.tsx";
import { useAsyncAction } from "../../ui/loading/use-async-action.ts";
import { useLoaded } from "../../ui/loading/use-loaded.ts";
import { Page, Panel } from "../../ui/page.tsx";
import { showToast } from "../../ui/toasts.tsx";
import { words } from "../../ui/words.ts";
import { CaptureTable } from "./capture-table.tsx";
import { CaptureView } from "./capture-view.tsx";
import { Samples } from "./samples.tsx";
import { texts } from "./texts.ts";

const REFRESH_MS = 3_000;

/** Page that shows the traffic with the provider, for debugging. */
export function Captures({ detail }: { readonly detail: string }) {
  const { data, error, reload } = useLoaded(listCaptures, "", REFRESH_MS);
  const [saved, setSaved] = useState(0);
  const action = useAsyncAction();
  const run = async (change: () => Promise<unknown>, message: string) => {
    await action.run(async () => {
      await change();
      showToast(message);
      await reload();
    });
  };
  const enabled = data?.enabled === true;
  const toggleButton = (
    <Button
      needs="operator"
      kind={enabled ? "plain" : "primary"}
      onClick={() =>
        run(
          () => changeSettings({ captures: { enabled: !enabled } }),
          enabled ? texts.capturingStopped : texts.capturing,
        )
      }
    >
      {enabled ? texts.stopCapturing : texts.startCapturing}
    </Button>
  );
  return (
    <Page title={words.captures} lead={texts.lead} actions={data !== null && toggleButton}>
      <LoadState {...{ data, error, reload }} />
      <Problem error={action.error} />
      {data !== null && (
        <Panel
          title={texts.exchanges}
          {...(data.items.length > 0 && {
            actions: (
              <Button needs="owner" onClick={() => run(clearCaptures, texts.capturesCleared)}>
                {texts.clear}
              </Button>
            ),
          })}
        >
          {data.items.length === 0 ? (
            <Empty icon="captures" title={enabled ? texts.nothingCapturedYet : texts.capturingOff}>
              {enabled ? texts.newestAreListed(data.limit) : texts.capturingOffHint}
            </Empty>
          ) : (
            <CaptureTable
              items={data.items}
              onKeep={(chain) =>
                run(async () => {
                  await saveSample(chain);
                  setSaved((count) => count + 1);
                }, texts.keptAsSample)
              }
            />
          )}
        </Panel>
      )}
      {(data !== null || error !== "") && <Samples saved={saved} />}
      {detail !== "" && <CaptureView key={detail} id={detail} onClose={() => navigateTo("captures")} />}
    </Page>
  );
}
