import { automaticPrefix } from '../../../model/matrix/policy-schema.js';
import { Empty } from '../../part/empty.js';
import { KeyText } from '../../part/key-text.js';
import { DataTable } from '../../part/table/data-table.js';
import { screenPath } from '../../screen-path.js';
import type { SetSchema } from './read-schema.js';

/** Uses of a condition set: the rules that contain it, and its child sets. */
export function SetUses({ setKey, schema }: { readonly setKey: string; readonly schema: SetSchema }) {
	const rules = schema.rules.filter(({ user_set, resource_set }) => user_set === setKey || resource_set === setKey);
	const children = Object.keys(schema.sets).filter((key) => schema.sets[key]?.parent === setKey);
	return (
		<section>
			<h2>Used by</h2>
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
		</section>
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
	return (
		<a href={screenPath(`condition-sets/${name}`)}>
			<KeyText text={name} />
		</a>
	);
}
