import { useState } from "preact/hooks";
import { Page, Panel } from "../../ui/page.tsx";
import { Tabs } from "../../ui/tabs.tsx";
import { MetadataLookup } from "./metadata-lookup.tsx";
import { TechnologyLookup } from "./technology-lookup.tsx";
import { texts } from "./texts.ts";
import { ThumbnailForm } from "./thumbnail-form.tsx";

/** Page to try the three operations of the page service. */
export function PageService() {
  const [tab, setTab] = useState("thumbnail");
  return (
    <Page title={texts.webPages} lead={texts.lead}>
      <Panel>
        <Tabs
          label={texts.operations}
          current={tab}
          onChange={setTab}
          tabs={[
            { id: "thumbnail", name: texts.thumbnail, content: () => <ThumbnailForm /> },
            { id: "technologies", name: texts.technologies, content: () => <TechnologyLookup /> },
            { id: "metadata", name: texts.metadataTitle, content: () => <MetadataLookup /> },
          ]}
        />
      </Panel>
    </Page>
  );
}
