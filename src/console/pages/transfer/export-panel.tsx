import { useState } from "preact/hooks";
import { messageOf } from "../../api/client.ts";
import { exportConfig } from "../../api/config.ts";
import { Button } from "../../ui/button.tsx";
import { CopyButton } from "../../ui/copy-button.tsx";
import { Notice } from "../../ui/notice.tsx";
import { Panel } from "../../ui/page.tsx";
import { saveFile } from "../../ui/save-file.ts";

export function ExportPanel() {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState("");
  const download = async () => {
    setBusy(true);
    setError("");
    try {
      const { config } = await exportConfig();
      const day = new Date().toISOString().slice(0, 10);
      saveFile(`polygate-${day}.json`, `${JSON.stringify(config, null, 2)}\n`, "application/json");
    } catch (thrown) {
      setError(messageOf(thrown));
    }
    setBusy(false);
  };
  return (
    <Panel title="Export">
      <div class="stack">
        <p class="muted">It holds keys, passwords and tokens in clear. Keep it as you would keep those.</p>
        {error !== "" && <Notice kind="error">{error}</Notice>}
        <div class="actions">
          <Button kind="primary" busy={busy} onClick={download}>
            Download JSON
          </Button>
          <CopyButton name="Copy JSON" text={async () => (await exportConfig()).json} />
          <CopyButton name="Copy for GATEWAY_CONFIG_JSON" text={async () => (await exportConfig()).base64} />
        </div>
      </div>
    </Panel>
  );
}
