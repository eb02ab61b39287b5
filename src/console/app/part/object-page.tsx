import type { ComponentChildren } from 'preact';
import type { DraftChange } from '../../model/draft/draft.js';
import { currentDraft } from '../current-draft.js';
import { screenPath } from '../screen-path.js';
import type { Loaded } from '../use-loaded.js';
import { Empty } from './empty.js';
import { LoadedFrame } from './loaded-frame.js';
import { Screen } from './screen.js';

/** An object's stored and drafted values. */
interface FoundObject<Schema, Value> {
	readonly schema: Schema;
	/** Stored object; `null` if the environment does not contain it. */
	readonly stored: Value | null;
	/** Object with the draft's change; `null` for a new object. */
	readonly current: Value | null;
}

interface ObjectPageProps<Schema, Value> {
	/** Object kind in drafts. */
	readonly kind: string;
	/** Name for the object in texts. */
	readonly noun: string;
	/** Key of the object; `null` for a new object. */
	readonly objectKey: string | null;
	/** Screen with the list of these objects. */
	readonly list: string;
	readonly loaded: Loaded<Schema>;
	readonly readStored: (schema: Schema, key: string) => Value | null;
	readonly readDrafted: (value: unknown) => Value;
	/** Reasons why an object may be missing. */
	readonly missing?: string;
	readonly children: (found: FoundObject<Schema, Value>) => ComponentChildren;
}

/** Page of an object that is stored, in the draft, or new. */
export function ObjectPage<Schema, Value>({ kind, noun, objectKey, loaded, ...props }: ObjectPageProps<Schema, Value>) {
	const drafted = currentDraft.value?.changes.find((change) => change.kind === kind && change.key === objectKey);
	const title = `${noun[0]?.toUpperCase()}${noun.slice(1)}`;
	return (
		<Screen title={objectKey === null ? `New ${noun}` : `${title} ${objectKey}`}>
			<p>
				<a href={screenPath(props.list)}>All {noun}s</a>
			</p>
			<LoadedFrame loaded={loaded}>
				{(schema) => {
					const stored = objectKey === null ? null : props.readStored(schema, objectKey);
					const current = drafted?.value === undefined ? stored : props.readDrafted(drafted.value);
					if (objectKey !== null && current === null) {
						return (
							<Empty title={`${title} not found`}>
								<p>It may have been deleted. {props.missing}</p>
							</Empty>
						);
					}
					return (
						<>
							{drafted !== undefined && <p class="notice">{draftedText(drafted, noun)}</p>}
							{props.children({ schema, stored, current })}
						</>
					);
				}}
			</LoadedFrame>
		</Screen>
	);
}

function draftedText({ operation }: DraftChange, noun: string): string {
	// The title has the full noun, such as "condition set".
	const word = noun.slice(noun.lastIndexOf(' ') + 1);
	return operation === 'delete'
		? `The draft deletes this ${word}.`
		: `You are viewing the draft of this ${word}. It is not published yet.`;
}
