import { useState } from "preact/hooks";
import { Page } from "../../ui/page.tsx";
import { ExportPanel } from "./export-panel.tsx";
import { ImportPanel } from "./import-panel.tsx";
import { RestorePanel } from "./restore-panel.tsx";

/** Page to export and import the configuration. */
export function Transfer() {
  const [imports, setImports] = useState(0);
  return (
    <Page
      title="Import and export"
      lead="Export or import the whole configuration, as a backup or to move to another gateway."
    >
      <ExportPanel />
      <ImportPanel onImported={() => setImports((before) => before + 1)} />
      <RestorePanel key={imports} />
    </Page>
  );
}
