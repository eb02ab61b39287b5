import { useSignal } from '@preact/signals';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { jsonProblem } from '../../../model/json-problem.js';
import { visibleText } from '../../../model/visible-text.js';
import { Failure, SubmitButton, useWork } from '../../../part/action-button.js';
import { announce } from '../../../part/announce.js';
import { Button } from '../../../part/button.js';
import { Section } from '../../../part/section.js';
import { setter, storing } from '../../../part/setter.js';
import { confirmWrite } from '../../part/confirm.js';
import { JsonField } from '../../part/field/json-field.js';
import { mayWrite } from '../../session.js';
import { reloadAll } from '../../use-loaded.js';

type Attributes = Readonly<Record<string, unknown>>;

interface AttributesFormProps {
	/** Object display name. */
	readonly name: string;
	readonly attributes: Attributes | null;
	/** Replaces all attributes. */
	readonly save: (attributes: Attributes) => Promise<unknown>;
}

/** Section with an object's attributes, shown and edited as JSON. */
export function AttributesSection(props: AttributesFormProps) {
	return (
		<Section id="attributes" title="Attributes">
			<AttributesForm {...props} />
		</Section>
	);
}

function AttributesForm({ name, attributes, save }: AttributesFormProps) {
	const stored = JSON.stringify(attributes ?? {}, null, 2);
	const edited = useSignal<string | null>(null);
	const work = useWork();
	const button = useRef<HTMLButtonElement>(null);
	const form = useRef<HTMLFormElement>(null);
	const isEdited = edited.value !== null;
	// The button and the form replace each other, and focus moves with them.
	const wasEdited = useRef(isEdited);
	useLayoutEffect(() => {
		if (wasEdited.current === isEdited) return;
		wasEdited.current = isEdited;
		(isEdited ? form.current?.querySelector('textarea') : button.current)?.focus();
	}, [isEdited]);
	if (edited.value === null) {
		return (
			<>
				{stored === '{}' ? (
					<p class="quiet">No attributes yet. Condition sets can use them.</p>
				) : (
					// biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard.
					<pre class="code directory-attributes" tabIndex={0}>
						{stored.split('\n').map(visibleText).join('\n')}
					</pre>
				)}
				{mayWrite.value && (
					<button ref={button} type="button" onClick={storing(edited, stored)}>
						Edit attributes
					</button>
				)}
			</>
		);
	}
	const text = edited.value;
	const send = async () => {
		const next = readAttributes(text);
		if (!(await confirmWrite('Save attributes', `Save the attributes? This replaces all of ${name}’s attributes.`)))
			return;
		await save(next);
		announce(`Saved ${name}’s attributes.`);
		edited.value = null;
		reloadAll();
	};
	return (
		<form ref={form} onSubmit={work.submit(send)}>
			<JsonField
				label="Attributes (JSON)"
				text={text}
				rows={Math.min(20, Math.max(4, text.split('\n').length))}
				onText={setter(edited)}
			/>
			<div class="line">
				<SubmitButton work={work} disabled={text.trim() !== '' && jsonProblem(text) !== null}>
					Save
				</SubmitButton>
				<Button onClick={storing(edited, null)}>Cancel</Button>
			</div>
			<Failure text={work.failure} />
		</form>
	);
}

/** Parses the attributes in a field. An empty field means no attributes. Throws if the text is not a JSON object. */
export function readAttributes(text: string): Attributes {
	const value: unknown = text.trim() === '' ? {} : JSON.parse(text);
	if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value };
	throw new Error('Attributes must be a JSON object, such as {"region": "eu"}.');
}
