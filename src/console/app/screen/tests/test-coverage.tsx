import type { ComponentChildren } from 'preact';
import { splitInstance } from '../../../model/check/attempt.js';
import { KeyText } from '../../part/key-text.js';
import { LazyDetails } from '../../part/lazy-details.js';
import { screenPath } from '../../screen-path.js';
import { mayWrite } from '../../session.js';
import type { TestRun } from './run-tests.js';

/** Permissions, derivations and rules that no test covers. */
export function TestCoverage({ coverage }: { readonly coverage: TestRun['coverage'] }) {
	const { permissions, derivations, set_rules } = coverage;
	return (
		<section aria-labelledby="tests-coverage">
			<h2 id="tests-coverage">Coverage</h2>
			<p class="quiet">
				A test covers the permission that it checks, and the derivations and rules through which its check is allowed.
			</p>
			<Uncovered name="permissions" list={permissions}>
				{(permission) => {
					const { type, key: action } = splitInstance(permission);
					return (
						<>
							<KeyText text={permission} />{' '}
							{mayWrite.value && (
								<a
									href={screenPath('tests', { new: 'yes', resource: type, action })}
									aria-label={`Add test for ${permission}`}
								>
									Add test
								</a>
							)}
						</>
					);
				}}
			</Uncovered>
			<Uncovered name="derivations" list={derivations}>
				{({ role, relation, from }) => (
					<>
						<KeyText text={role} /> from <KeyText text={from} /> through <KeyText text={relation} />
					</>
				)}
			</Uncovered>
			<Uncovered name="set rules" list={set_rules}>
				{({ user_set, permission, resource_set }) => (
					<>
						<KeyText text={user_set} /> may <KeyText text={permission} /> on <KeyText text={resource_set} />
					</>
				)}
			</Uncovered>
		</section>
	);
}

interface UncoveredProps<Item> {
	readonly name: string;
	readonly list: { readonly total: number; readonly uncovered: number; readonly first: readonly Item[] };
	readonly children: (item: Item) => ComponentChildren;
}

function Uncovered<Item>({ name, list: { total, uncovered, first }, children }: UncoveredProps<Item>) {
	const text = `${total - uncovered} of ${total} ${name} covered`;
	if (uncovered === 0) return <p>{total === 0 ? `The schema has no ${name}.` : text}</p>;
	return (
		<LazyDetails class="tests-uncovered" isFirst={false} summary={text}>
			{() => (
				<>
					<p>Not covered:</p>
					<ul>
						{first.map((item) => (
							<li key={JSON.stringify(item)}>{children(item)}</li>
						))}
					</ul>
					{first.length < uncovered && <p class="quiet">and {uncovered - first.length} more</p>}
				</>
			)}
		</LazyDetails>
	);
}
