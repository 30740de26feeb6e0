import { useState } from "preact/hooks";
import { Page } from "../../ui/page.tsx";
import { ExportPanel } from "./export-panel.tsx";
import { ImportPanel } from "./import-panel.tsx";
import { RestorePanel } from "./restore-panel.tsx";
import { texts } from "./texts.ts";

/** Page to export and import the configuration. */
export function Transfer() {
  const [imports, setImports] = useState(0);
  return (
    <Page title={texts.importAndExport} lead={texts.lead}>
      <ExportPanel />
      <ImportPanel onImported={() => setImports((before) => before + 1)} />
      <RestorePanel key={imports} />
    </Page>
  );
}
