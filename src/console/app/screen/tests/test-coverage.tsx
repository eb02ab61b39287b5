import type { ComponentChildren } from 'preact';
import { splitInstance } from '../../../model/check/attempt.js';
import { Section } from '../../../part/section.js';
import { KeyText } from '../../part/key-text.js';
import { LazyDetails } from '../../part/lazy-details.js';
import { screenPath } from '../../screen-path.js';
import { mayWrite } from '../../session.js';
import type { TestRun } from './run-tests.js';

/** Permissions, derivations and rules that no test covers. */
export function TestCoverage({ coverage }: { readonly coverage: TestRun['coverage'] }) {
	const { permissions, derivations, set_rules } = coverage;
	return (
		<Section id="tests-coverage" title="Coverage">
			<p class="quiet">A test covers the permission that it checks, and the derivations and rules that allow it.</p>
			<Uncovered name="permissions" list={permissions}>
				{(permission) => (
					<>
						<KeyText text={permission} /> <AddTest check={permissionCheck(permission)} target={permission} />
					</>
				)}
			</Uncovered>
			<Uncovered name="derivations" list={derivations}>
				{({ role, relation, from }) => (
					<>
						<KeyText text={role} /> from <KeyText text={from} /> through <KeyText text={relation} />{' '}
						<AddTest
							check={{ resource: role.split('#')[0] ?? '' }}
							target={`${role} from ${from} through ${relation}`}
						/>
					</>
				)}
			</Uncovered>
			<Uncovered name="set rules" list={set_rules}>
				{({ user_set, permission, resource_set }) => (
					<>
						<KeyText text={user_set} /> may <KeyText text={permission} /> on <KeyText text={resource_set} />{' '}
						<AddTest check={permissionCheck(permission)} target={`${user_set} ${permission} ${resource_set}`} />
					</>
				)}
			</Uncovered>
		</Section>
	);
}

interface AddTestProps {
	/** Known part of the check: the resource and, for a permission, the action. */
	readonly check: { readonly resource: string; readonly action?: string };
	/** Uncovered object, for the accessible label. */
	readonly target: string;
}

/** Link to a new test with the known part of its check filled in. Omitted for a read-only key. */
function AddTest({ check, target }: AddTestProps) {
	if (!mayWrite.value) return null;
	return (
		<a href={screenPath('tests', { new: 'yes', ...check })} aria-label={`Add test for ${target}`}>
			Add test
		</a>
	);
}

function permissionCheck(permission: string): AddTestProps['check'] {
	const { type: resource, key: action } = splitInstance(permission);
	return { resource, action };
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
