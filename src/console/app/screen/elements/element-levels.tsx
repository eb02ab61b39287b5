import { useSignal } from '@preact/signals';
import {
	type ElementValue,
	elementLevels,
	levelPurposes,
	levelText,
	withLevel,
} from '../../../model/element/element-value.js';
import { bound } from '../../../part/setter.js';
import { TextField } from '../../../part/text-field.js';
import { KeyText } from '../../part/key-text.js';
import { DataTable } from '../../part/table/data-table.js';

interface ElementLevelsProps {
	readonly value: ElementValue;
	readonly roles: readonly string[];
	readonly onValue: (value: ElementValue) => void;
}

/** Minimum number of roles for which a filter is shown. */
const filteredFrom = 15;

export function ElementLevels({ value, roles, onValue }: ElementLevelsProps) {
	const filter = useSignal('');
	const shown = roles.filter((role) => role.includes(filter.value));
	return (
		<>
			<h2>Levels</h2>
			<p class="quiet">
				{levelPurposes[value.elements_type] ?? 'Levels have no effect on this page.'} Users whose only levels are
				“Hidden” cannot sign in.
			</p>
			{roles.length >= filteredFrom && <TextField label="Filter roles" type="search" {...bound(filter)} />}
			{roles.length === 0 ? (
				<p class="quiet">The environment has no roles yet.</p>
			) : (
				<DataTable
					caption="Level of each role"
					rows={shown}
					rowKey={(role) => role}
					columns={[
						{ title: 'Role', cell: (role) => <KeyText text={role} /> },
						{
							title: 'Level',
							cell: (role) => (
								<select
									aria-label={`Level of ${role}`}
									value={value.role_levels[role] ?? ''}
									onChange={({ currentTarget }) =>
										onValue(withLevel(value, role, elementLevels.find((one) => one === currentTarget.value) ?? ''))
									}
								>
									<option value="">None</option>
									{elementLevels.map((level) => (
										<option key={level} value={level}>
											{levelText(level)}
										</option>
									))}
								</select>
							),
						},
					]}
				/>
			)}
		</>
	);
}
