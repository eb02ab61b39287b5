import type { GrantCondition } from '../../../../model/grant-condition.js';
import { ActionButton } from '../../../../part/action-button.js';
import { announce } from '../../../../part/announce.js';
import { management } from '../../../api.js';
import { confirmWrite } from '../../../part/confirm.js';
import { KeyText } from '../../../part/key-text.js';
import { actionColumn, asRowPage, PagedTable } from '../../../part/table/paged-table.js';
import { TimeText } from '../../../part/time-text.js';
import { mayWrite } from '../../../session.js';
import { reloadAll } from '../../../use-loaded.js';
import { ConditionText } from '../condition-text.js';
import { ObjectLink } from '../object-link.js';
import { RelateInstance } from './relate-instance.js';

/** An instance's relationships, both as the object and as the subject. */
export function InstanceRelationships({ instance }: { readonly instance: string }) {
	return (
		<>
			<h3>Incoming</h3>
			<TupleTable instance={instance} end="object" empty="No incoming relationships." />
			<h3>Outgoing</h3>
			<TupleTable instance={instance} end="subject" empty="No outgoing relationships." />
			{mayWrite.value && <RelateInstance object={instance} />}
		</>
	);
}

/** Relationship, with the keys of its subject, relation and object, and its condition. */
interface Tuple {
	readonly subject: string;
	readonly relation: string;
	readonly object: string;
	readonly condition?: GrantCondition | undefined;
}

interface TupleTableProps {
	readonly instance: string;
	/** The instance's side in the relationship. */
	readonly end: 'object' | 'subject';
	readonly empty: string;
}

function tupleText({ subject, relation, object, condition }: Tuple): string {
	return `relation ${relation} from ${subject} to ${object}${condition === undefined ? '' : ` under ${condition.set}`}`;
}

function TupleTable({ instance, end, empty }: TupleTableProps) {
	const remove = async (row: Tuple) => {
		const { subject, relation, object, condition } = row;
		const what = tupleText(row);
		const said = `Remove ${what}? Users lose the roles derived through it.`;
		if (!(await confirmWrite('Remove relationship', said, { always: true }))) return;
		await management.delete('/v2/facts/{proj_id}/{env_id}/relationship_tuples', {
			body: { subject, relation, object, ...(condition !== undefined && { condition: { set: condition.set } }) },
		});
		announce(`Removed ${what}.`);
		reloadAll();
	};
	return (
		<PagedTable
			caption={end === 'object' ? `Relationships to ${instance}` : `Relationships from ${instance}`}
			parameter={`${end}_page`}
			dependencies={[instance]}
			load={async (page, signal) => {
				const query = { ...page, include_total_count: true, [end]: [instance] };
				const found = await management.get('/v2/facts/{proj_id}/{env_id}/relationship_tuples', { query, signal });
				return asRowPage(found);
			}}
			rowKey={({ id }) => id}
			columns={[
				{ title: 'Subject', cell: (row) => <ObjectLink tab="instances" name={row.subject} /> },
				{
					title: 'Relation',
					cell: ({ relation, condition }) => (
						<>
							<KeyText text={relation} />
							<ConditionText condition={condition} />
						</>
					),
				},
				{ title: 'Object', cell: (row) => <ObjectLink tab="instances" name={row.object} /> },
				{
					title: 'Expires',
					cell: ({ expires_at }) => (expires_at === undefined ? 'never' : <TimeText at={expires_at} />),
				},
				...actionColumn((row: Tuple) => (
					<ActionButton act={() => remove(row)} label={`Remove ${tupleText(row)}`}>
						Remove
					</ActionButton>
				)),
			]}
			empty={<p class="quiet">{empty}</p>}
		/>
	);
}
