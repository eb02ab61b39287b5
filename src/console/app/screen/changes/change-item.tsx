import { useSignal } from '@preact/signals';
import type { components } from '#management-api';
import { kindWord, operationWords } from '../../../model/change/change-words.js';
import { type MemberDifference, maxDifferences, recordDifference } from '../../../model/change/record-difference.js';
import { directoryPath } from '../../../model/directory-path.js';
import { visibleText } from '../../../model/visible-text.js';
import { ActionButton } from '../../../part/action-button.js';
import { Button } from '../../../part/button.js';
import { CodeText } from '../../part/code/code-text.js';
import { KeyLink } from '../../part/key-link.js';
import { KeyText } from '../../part/key-text.js';
import { screenPath } from '../../screen-path.js';

type Change = components['schemas']['ChangeRead'];

interface ChangeItemProps {
	readonly change: Change;
	/** Adds the reverse change to the draft. `null` if the change cannot be reversed or the key may not write. */
	readonly undo: (() => Promise<void>) | null;
}

const marks = { create: 'good', update: 'warn', delete: 'bad' } as const;

export function ChangeItem({ change, undo }: ChangeItemProps) {
	const { kind, operation, key, before, after } = change;
	const isOpen = useSignal(false);
	const differences = recordDifference(before, after);
	const object = `${kindWord(kind)} ${key}`;
	return (
		<li>
			<div class="line">
				<span class={`badge ${marks[operation]}`}>{operationWords[operation]}</span>
				<span>
					{kindWord(kind)} <ObjectName change={change} />
				</span>
				<span class="line end">
					<Button
						class="link"
						aria-expanded={isOpen.value}
						aria-label={`${isOpen.value ? 'Hide' : 'Show'} full object ${object}`}
						onClick={() => {
							isOpen.value = !isOpen.value;
						}}
					>
						{isOpen.value ? 'Hide' : 'Show'} full object
					</Button>
					{undo !== null && (
						<ActionButton act={undo} label={`Undo: ${object} was ${operationWords[operation]}`}>
							Undo
						</ActionButton>
					)}
				</span>
			</div>
			{differences.length > 0 && (
				<dl class={`changes-difference ${operation}`}>
					{differences.map((difference) => (
						<Difference key={difference.name} difference={difference} />
					))}
				</dl>
			)}
			{differences.length === maxDifferences && <p class="quiet">Not all differences are shown.</p>}
			{isOpen.value && (
				<div class="changes-states">
					<State title="Before" record={before} />
					<State title="After" record={after} />
				</div>
			)}
		</li>
	);
}

const tabs: Readonly<Partial<Record<string, Parameters<typeof directoryPath>[0]>>> = {
	user: 'users',
	tenant: 'tenants',
	group: 'groups',
	resource_instance: 'instances',
};

/** Key of the object. It is a link if the object has a page and may still exist. */
function ObjectName({ change: { kind, operation, key } }: { readonly change: Change }) {
	const tab = tabs[kind];
	if (tab === undefined || operation === 'delete') return <KeyText text={key} />;
	return <KeyLink href={screenPath(directoryPath(tab, key))} text={key} />;
}

function Difference({ difference: { name, removed, added, reordered } }: { readonly difference: MemberDifference }) {
	return (
		<div>
			<dt>
				<KeyText text={name} />
			</dt>
			<dd>
				{removed.map((text, index) => (
					<del key={index}>
						<KeyText text={text} />
					</del>
				))}
				{added.map((text, index) => (
					<ins key={index}>
						<KeyText text={text} />
					</ins>
				))}
				{reordered && <span class="quiet">reordered</span>}
			</dd>
		</div>
	);
}

function State({ title, record }: { readonly title: string; readonly record: Change['before'] }) {
	const text = record === null ? 'Did not exist' : jsonLines(record);
	return (
		<div>
			<h3>{title}</h3>
			<CodeText>{text}</CodeText>
		</div>
	);
}

function jsonLines(record: object): string {
	return JSON.stringify(record, null, 2).split('\n').map(visibleText).join('\n');
}
