import test from 'ava';
import { derivationCycles } from '../../compiler/cycle.js';
import { findFanInAbove } from '../../src/domain/check-limit/fan-in.js';

/**
 * Number of roles that lead to a role in a cycle: each counts once, whatever the number of paths, and a role does not
 * count for itself.
 */

const unnamed = { name: '', description: null };

/**
 * Returns roles derived from each other over the relations `<target>:<source>`. Like the domain code, it uses ids as
 * names.
 */
function roleCycle(...pairs: readonly (readonly [target: string, source: string])[]) {
	const roles = [...new Set(pairs.flat())].map((key) => {
		const derivations = pairs
			.filter(([target]) => target === key)
			.map(([target, role]) => ({ relation: `${target}:${role}`, role, no_direct_roles_on_object: false }));
		return { key, ...unnamed, permissions: [], extends: [], derivations, no_direct_roles_on_object: false };
	});
	const relations = pairs.map(([target, source]) => ({ key: `${target}:${source}`, ...unnamed, subject: '' }));
	const [cycle] = derivationCycles({
		condition_sets: [],
		set_rules: [],
		resources: [{ key: '', ...unnamed, actions: [], roles, relations }],
		roles: [],
	});
	if (cycle === undefined) throw new Error('no cycle');
	return cycle;
}

/** Parses tuples written `subject>object`, along the same relation. */
function tuples(relation_id: string, ...ways: readonly string[]) {
	return ways.map((way) => {
		const [subject_id = '', object_id = ''] = way.split('>');
		return { subject_id, relation_id, object_id };
	});
}

const nested = roleCycle(['viewer', 'viewer']);
const along = (...ways: readonly string[]) => tuples('viewer:viewer', ...ways);

/** Tuples with the exact limit: `count` roles lead to the most crowded role. */
const graphs = {
	nothing: { tuples: [], count: 0 },
	'a chain': { tuples: along('a>b', 'b>c', 'c>d'), count: 3 },
	'a diamond of diamonds': { tuples: along('a>b', 'a>c', 'b>d', 'c>d', 'd>e', 'd>f', 'e>g', 'f>g'), count: 6 },
	'a ring': { tuples: along('a>b', 'b>c', 'c>a'), count: 2 },
	'one to itself': { tuples: along('a>a'), count: 0 },
	'a ring with a tail and a root': { tuples: along('r>a', 'a>b', 'b>a', 'b>t'), count: 3 },
	'a star': { tuples: along('a>z', 'b>z', 'c>z', 'd>z'), count: 4 },
	'two trees': { tuples: along('a>b', 'a>c', 'x>y', 'y>z'), count: 2 },
} as const;

for (const [name, { tuples: given, count }] of Object.entries(graphs)) {
	test(`${name}: ${count}`, (t) => {
		t.is(findFanInAbove(nested, given, count), null);
		if (count > 0) t.not(findFanInAbove(nested, given, count - 1), null);
	});
}

test('a problem names the role and the instance with too many sources', (t) => {
	t.deepEqual(findFanInAbove(nested, along('a>b', 'b>c', 'x>y'), 1), { role_id: 'viewer', instance_id: 'c' });
	t.deepEqual(findFanInAbove(nested, along('a>b', 'b>a', 'b>c'), 1), { role_id: 'viewer', instance_id: 'c' });
});

test('roles on an instance count separately, each along its own derivation relations', (t) => {
	const cycle = roleCycle(['member', 'lead'], ['lead', 'member']);
	// The member role on c comes from lead on b, which comes from member on a. In the other direction, lead on c comes
	// from nothing.
	const chain = [...tuples('lead:member', 'a>b'), ...tuples('member:lead', 'b>c')];
	t.deepEqual(findFanInAbove(cycle, chain, 1), { role_id: 'member', instance_id: 'c' });
	t.is(findFanInAbove(cycle, chain, 2), null);
	// Both roles on both instances, and from each instance to itself.
	const both = ['lead:member', 'member:lead'].flatMap((relation) => tuples(relation, 'a>b', 'b>a', 'a>a'));
	t.not(findFanInAbove(cycle, both, 2), null);
	t.is(findFanInAbove(cycle, both, 3), null);
});
