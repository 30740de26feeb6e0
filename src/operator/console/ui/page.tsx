import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import { useIsNarrow } from "./use-media.ts";

interface PageProps {
  readonly title: string;
  readonly lead?: ComponentChildren;
  readonly actions?: ComponentChildren;
  readonly children: ComponentChildren;
}

/** A page of the console: heading, introduction and actions. */
export function Page({ title, lead, actions, children }: PageProps) {
  useEffect(() => {
    document.title = `${title} · Polygate`;
  }, [title]);
  return (
    <div class="page">
      <header class="page-head">
        <div>
          <h1>{title}</h1>
          {lead !== undefined && <p class="lead">{lead}</p>}
        </div>
        {actions !== undefined && <div class="actions">{actions}</div>}
      </header>
      {children}
    </div>
  );
}

interface PanelProps {
  readonly title?: string;
  readonly actions?: ComponentChildren;
  readonly children: ComponentChildren;
  readonly class?: string;
  /** On a narrow screen only the title is shown until the user opens the part. */
  readonly folds?: boolean;
  /** Whether a folded part is open, until the user opens or closes it. */
  readonly open?: boolean;
}

/** A framed part of a page. */
export function Panel(props: PanelProps) {
  const isNarrow = useIsNarrow();
  if (props.folds === true && isNarrow) {
    return (
      <details class={`panel fold ${props.class ?? ""}`} open={props.open === true}>
        <summary>
          <h2>{props.title}</h2>
        </summary>
        {props.actions !== undefined && <div class="actions">{props.actions}</div>}
        {props.children}
      </details>
    );
  }
  return (
    <section class={`panel ${props.class ?? ""}`} aria-label={props.title}>
      {props.title !== undefined && (
        <header class="panel-head">
          <h2>{props.title}</h2>
          {props.actions !== undefined && <div class="actions">{props.actions}</div>}
        </header>
      )}
      {props.children}
    </section>
  );
}
