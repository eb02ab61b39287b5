import { useEffect, useState } from 'preact/hooks';
import {
	type DecisionFilter,
	fieldInstant,
	isNarrowed,
	readDecisionFilter,
} from '../../../model/check/decision-filter.js';
import { denialCodes } from '../../../model/check/denial-codes.js';
import { fieldTime } from '../../../model/instants.js';
import { visibleText } from '../../../model/visible-text.js';
import { Button } from '../../../part/button.js';
import { SelectField } from '../../../part/select-field.js';
import { management } from '../../api.js';
import { Combobox } from '../../part/field/combobox.js';
import { LazyDetails } from '../../part/lazy-details.js';
import { proposeActions, proposeResources, proposeTenants, proposeUsers } from '../../propose.js';
import { useSideData } from '../../use-loaded.js';

interface DecisionFiltersProps {
	/** Filter described by the address. */
	readonly filter: DecisionFilter;
	readonly onApply: (filter: DecisionFilter) => void;
}

/** Decision log filters. */
export function DecisionFilters({ filter, onApply }: DecisionFiltersProps) {
	const [edited, setEdited] = useState(filter);
	// The URL may change without typing, for example by "back".
	useEffect(() => setEdited(filter), [JSON.stringify(filter)]);
	const field = (name: keyof DecisionFilter) => (text: string) => setEdited((before) => ({ ...before, [name]: text }));
	return (
		<LazyDetails class="decisions-filters" summary="Filter" isFirst={isNarrowed(filter)}>
			{() => (
				<form
					class="columns"
					aria-label="Filter decisions"
					onSubmit={(event) => {
						event.preventDefault();
						onApply(edited);
					}}
				>
					<Combobox label="User" value={edited.user} onValue={field('user')} propose={proposeUsers} />
					<Combobox
						label="Action"
						value={edited.action}
						onValue={field('action')}
						propose={(text, signal) => proposeActions(edited.resource, text, signal)}
					/>
					<Combobox label="Resource" value={edited.resource} onValue={field('resource')} propose={proposeResources} />
					<Combobox label="Tenant" value={edited.tenant} onValue={field('tenant')} propose={proposeTenants} />
					<SelectField
						label="Decision"
						value={edited.decision}
						empty="All"
						options={{ allow: 'Allowed', deny: 'Denied' }}
						onValue={field('decision')}
					/>
					<CodeSelect value={edited.code} onValue={field('code')} />
					<PointSelect value={edited.pdp} onValue={field('pdp')} />
					<TimeField label="From" value={edited.from} onValue={field('from')} />
					<TimeField label="To" value={edited.to} onValue={field('to')} />
					<div class="whole line">
						<button type="submit" class="primary">
							Apply
						</button>
						{isNarrowed(filter) && <Button onClick={() => onApply(readDecisionFilter(() => ''))}>Clear filters</Button>}
					</div>
				</form>
			)}
		</LazyDetails>
	);
}

interface FieldProps {
	readonly value: string;
	readonly onValue: (text: string) => void;
}

/**
 * Known denial codes, together with the code in the URL. A code in the URL may come from a different version or
 * policy.
 */
function CodeSelect({ value, onValue }: FieldProps) {
	const codes = value === '' || denialCodes.includes(value) ? denialCodes : [...denialCodes, value];
	return (
		<SelectField
			label="Code"
			value={value}
			empty="All"
			options={codes.map((code) => [code, visibleText(code)])}
			onValue={onValue}
		/>
	);
}

/**
 * The log stores each decision with the decision point's API key. Decision points that share a key therefore form one
 * choice.
 */
function PointSelect({ value, onValue }: FieldProps) {
	const { value: instances } = useSideData(
		(signal) => management.get('/v2/pdps/{proj_id}/{env_id}/instances', { signal }),
		[],
	);
	const names = new Map<string, string[]>();
	for (const { api_key_id, pdp_instance_id } of instances ?? []) {
		const others = names.get(api_key_id) ?? [];
		names.set(api_key_id, [...others, pdp_instance_id]);
	}
	if (value !== '' && !names.has(value)) names.set(value, [value]);
	return (
		<SelectField
			label="Decision point"
			value={value}
			empty="All"
			options={Array.from(names, ([id, called]) => [id, pointsText(called)])}
			onValue={onValue}
		/>
	);
}

/** Names the first decision points. */
function pointsText(names: readonly string[]): string {
	const more = names.length > 3 ? ` and ${names.length - 3} more` : '';
	return visibleText(names.slice(0, 3).join(', ')) + more;
}

function TimeField({ label, value, onValue }: FieldProps & { readonly label: string }) {
	const time = new Date(value);
	return (
		<label>
			<span>{label}</span>
			<input
				type="datetime-local"
				value={Number.isNaN(time.getTime()) ? '' : fieldTime(time)}
				onChange={(event) => onValue(fieldInstant(event.currentTarget.value))}
			/>
		</label>
	);
}
