import { exportConfig } from "../../api/config.ts";
import { Button } from "../../ui/button.tsx";
import { CopyButton } from "../../ui/copy-button.tsx";
import { Problem } from "../../ui/loading/problem.tsx";
import { useAsyncAction } from "../../ui/loading/use-async-action.ts";
import { Panel } from "../../ui/page.tsx";
import { saveFile } from "../../ui/save-file.ts";
import { texts } from "./texts.ts";

export function ExportPanel() {
  const { busy, error, run } = useAsyncAction();
  const download = async () => {
    const { config } = await exportConfig();
    const day = new Date().toISOString().slice(0, 10);
    saveFile(`polygate-${day}.json`, `${JSON.stringify(config, null, 2)}\n`, "application/json");
  };
  return (
    <Panel title={texts.export}>
      <div class="stack">
        <p class="muted">{texts.exportWarning}</p>
        <Problem error={error} />
        <div class="actions">
          <Button kind="primary" needs="owner" busy={busy} onClick={() => run(download)}>
            {texts.downloadJson}
          </Button>
          <CopyButton needs="owner" name={texts.copyJson} text={async () => (await exportConfig()).json} />
          <CopyButton
            needs="owner"
            name={texts.copyBase64}
            text={async () => (await exportConfig()).base64}
          />
        </div>
      </div>
    </Panel>
  );
}
