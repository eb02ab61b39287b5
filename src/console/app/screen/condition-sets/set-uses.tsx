import type { ConditionSetValue } from '../../../model/condition/condition-set-value.js';
import { automaticPrefix } from '../../../model/matrix/policy-schema.js';
import { modelPath } from '../../../model/schema/model-path.js';
import { Empty } from '../../part/empty.js';
import { KeyLink } from '../../part/key-link.js';
import { KeyText } from '../../part/key-text.js';
import { DataTable } from '../../part/table/data-table.js';
import { screenPath } from '../../screen-path.js';
import type { SetSchema } from './read-schema.js';

interface SetUsesProps {
	readonly setKey: string;
	readonly type: ConditionSetValue['type'];
	readonly schema: SetSchema;
}

/** Uses of a condition set: the roles and relations that declare it, or its rules and child sets. */
export function SetUses({ setKey, type, schema }: SetUsesProps) {
	return (
		<section>
			<h2>Used by</h2>
			{type === 'grant' ? (
				<DeclaringParts setKey={setKey} schema={schema} />
			) : (
				<RulesAndChildren setKey={setKey} schema={schema} />
			)}
		</section>
	);
}

type PartProps = Omit<SetUsesProps, 'type'>;

function DeclaringParts({ setKey, schema }: PartProps) {
	const declaring = Object.entries(schema.resources).flatMap(([resource, { roles = {}, relations = {} }]) =>
		Object.entries({ role: roles, relation: relations }).flatMap(([kind, parts]) =>
			Object.entries(parts).flatMap(([key, { grant_conditions = [] }]) =>
				grant_conditions.includes(setKey) ? [{ resource, kind, key }] : [],
			),
		),
	);
	if (declaring.length === 0) {
		return (
			<Empty title="Not used yet" docs={{ page: 'policy/grant-conditions', title: 'Conditional grants' }}>
				<p>
					Edit a resource role or a relation in the <a href={screenPath('model')}>model</a> to allow grants under this
					condition.
				</p>
			</Empty>
		);
	}
	return (
		<ul>
			{declaring.map(({ resource, kind, key }) => (
				<li key={`${kind} ${resource}:${key}`}>
					{kind} <KeyText text={key} /> of{' '}
					<KeyLink href={screenPath(modelPath({ page: 'resource', key: resource }))} text={resource} />
				</li>
			))}
		</ul>
	);
}

function RulesAndChildren({ setKey, schema }: PartProps) {
	const rules = schema.rules.filter(({ user_set, resource_set }) => user_set === setKey || resource_set === setKey);
	const children = Object.keys(schema.sets).filter((key) => schema.sets[key]?.parent === setKey);
	return (
		<>
			{rules.length === 0 ? (
				<Empty title="No rules yet" docs={{ page: 'policy/console#the-policy-matrix', title: 'The policy matrix' }}>
					<p>
						A set grants nothing by itself. Add a rule in the <a href={screenPath('matrix')}>policy matrix</a>.
					</p>
				</Empty>
			) : (
				<DataTable
					caption="Rules with this set"
					captioned
					rows={rules}
					rowKey={({ user_set, permission, resource_set }) => `${user_set} ${permission} ${resource_set}`}
					columns={[
						{ title: 'Users', cell: ({ user_set }) => <SetName name={user_set} schema={schema} /> },
						{ title: 'Action', cell: ({ permission }) => <KeyText text={permission} /> },
						{ title: 'Resources', cell: ({ resource_set }) => <SetName name={resource_set} schema={schema} /> },
					]}
				/>
			)}
			{children.length > 0 && (
				<>
					<h3>Child sets</h3>
					<ul>
						{children.map((key) => (
							<li key={key}>
								<SetName name={key} schema={schema} />
							</li>
						))}
					</ul>
				</>
			)}
		</>
	);
}

function SetName({ name, schema }: { readonly name: string; readonly schema: SetSchema }) {
	if (name.startsWith(automaticPrefix)) {
		const of = name.slice(automaticPrefix.length);
		const isResource = schema.resources[of] !== undefined;
		return (
			<>
				{isResource ? 'all ' : 'role '}
				<KeyText text={of} />
			</>
		);
	}
	return <KeyLink href={screenPath(`condition-sets/${name}`)} text={name} />;
}
