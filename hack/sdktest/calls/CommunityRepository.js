// Communities, their members, roles and join requests.

const list = data => data.map(({ communityId }) => communityId);
const has = communityId => ({ data }) => list(data).includes(communityId);
const member = (userId, condition = () => true) => ({ data }) => data.some(user => user.userId === userId && condition(user));

// watched subscribes to a new community, in which bob and carol are members.
async function watched(t, bundle) {
  const community = await t.newCommunity({ userIds: [t.bob.id, t.carol.id], ...bundle });
  await t.subscribe(t.raw.getCommunityTopic(community, t.raw.SubscriptionLevels.COMMUNITY));
  return community;
}

// foreign subscribes to a new community of bob, in which the user and carol are members.
async function foreign(t, bundle) {
  const { data } = await t.bob.call('CommunityRepository.createCommunity', { displayName: t.name('Runners'), isPublic: true, userIds: [t.me, t.carol.id], ...bundle });
  const { communities } = await t.request('GET', `/api/v3/communities/${data.communityId}`);
  await t.subscribe(t.raw.getCommunityTopic(communities[0], t.raw.SubscriptionLevels.COMMUNITY));
  return communities[0];
}

const event = (name, act, condition = () => true) => async t => {
  const community = await foreign(t);
  await t.listen(`CommunityRepository.${name}`, () => act(t, community), heard => heard.communityId === community.communityId && condition(heard));
};

// memberEvent checks a listener that gets a community and a member.
const memberEvent = (name, act, condition = () => true) => async t => {
  const community = await foreign(t);
  await t.listen(`CommunityRepository.Membership.${name}`, () => act(t, community),
    (heard, user) => heard.communityId === community.communityId && condition(t, user));
};

// ownEvent checks a listener of what the user does on this device.
const ownEvent = (name, act) => async t => {
  const { data } = await t.bob.call('CommunityRepository.createCommunity', { displayName: t.name('Own'), isPublic: true, userIds: [t.carol.id] });
  await t.listen(`CommunityRepository.Membership.${name}`, () => act(t, data), heard => heard.communityId === data.communityId);
};

const memberOf = (t, communityId, userId) => t.admin('GET', `/api/v3/communities/${communityId}/users?memberships[]=member&memberships[]=banned`)
  .then(({ communityUsers }) => communityUsers.find(user => user.userId === userId));

const moderate = (t, peer, path, ...args) => t[peer].call(`CommunityRepository.${path}`, ...args);

async function created(t) {
  const displayName = t.name('Climbers');
  const { data } = await t.sdk.CommunityRepository.createCommunity({
    displayName, isPublic: true, description: 'We climb', tags: ['rock'], metadata: { size: 7 }, userIds: [t.bob.id],
    postSetting: t.raw.CommunityPostSettings.ANYONE_CAN_POST,
  });
  t.equal(data.displayName, displayName);
  t.equal(data.description, 'We climb');
  t.same(data.tags, ['rock']);
  t.equal(data.metadata.size, 7);
  t.equal(data.membersCount, 2);
  t.equal(data.isJoined, true);
  t.equal(data.postSetting, t.raw.CommunityPostSettings.ANYONE_CAN_POST);
}

async function found(t, start) {
  const community = await watched(t);
  const live = t.watch(callback => start(community, callback));
  await live.until('the community', has(community.communityId));
}

module.exports = {
  'CommunityRepository.createCommunity': created,
  'CommunityRepository.updateCommunity': async t => {
    const { communityId } = await t.newCommunity();
    const { data } = await t.sdk.CommunityRepository.updateCommunity(communityId, { description: 'New', postSetting: t.raw.CommunityPostSettings.ONLY_ADMIN_CAN_POST });
    t.equal(data.description, 'New');
    t.equal(data.postSetting, t.raw.CommunityPostSettings.ONLY_ADMIN_CAN_POST);
  },
  'CommunityRepository.deleteCommunity': async t => {
    const { communityId } = await t.newCommunity();
    const community = await t.sdk.CommunityRepository.deleteCommunity(communityId);
    t.equal(community.communityId, communityId);
    t.equal(community.isDeleted, true);
  },
  'CommunityRepository.getCommunityByIds': async t => {
    const communities = [await t.newCommunity(), await t.newCommunity()];
    const { data } = await t.sdk.CommunityRepository.getCommunityByIds(list(communities));
    t.same(list(data).sort(), list(communities).sort());
  },
  'CommunityRepository.joinCommunity': async t => {
    const { data } = await t.bob.call('CommunityRepository.createCommunity', { displayName: t.name('Open'), isPublic: true });
    t.equal(await t.sdk.CommunityRepository.joinCommunity(data.communityId), true);
    t.equal((await memberOf(t, data.communityId, t.me)).communityMembership, 'member');
  },
  'CommunityRepository.leaveCommunity': async t => {
    const { communityId } = await foreign(t);
    t.equal(await t.sdk.CommunityRepository.leaveCommunity(communityId), true);
    t.ok(!await memberOf(t, communityId, t.me));
  },
  'CommunityRepository.getTopTrendingCommunities': async t => {
    const { data } = await t.sdk.CommunityRepository.getTopTrendingCommunities();
    t.ok(Array.isArray(data));
  },

  'CommunityRepository.getCommunity': async t => {
    const { communityId, displayName } = await foreign(t);
    const live = t.watch(callback => t.sdk.CommunityRepository.getCommunity(communityId, callback));
    await live.until('the community', ({ data }) => data?.displayName === displayName);
    await t.bob.call('CommunityRepository.updateCommunity', communityId, { description: 'Changed by bob' });
    await live.until("bob's change", ({ data }) => data.description === 'Changed by bob');
    await t.carol.call('CommunityRepository.leaveCommunity', communityId);
    await live.until('that carol has left', ({ data }) => data.membersCount === 2);
    await t.bob.call('CommunityRepository.deleteCommunity', communityId);
    await live.until('the deletion', ({ data }) => data.isDeleted);
  },
  'CommunityRepository.observeCommunity': async t => {
    const { communityId } = await foreign(t);
    const live = t.watch(callback => t.sdk.CommunityRepository.observeCommunity(communityId, callback));
    await live.until('the community', ({ data }) => data?.communityId === communityId);
    await t.bob.call('CommunityRepository.updateCommunity', communityId, { description: 'Changed by bob' });
    await live.until("bob's change", ({ data }) => data.description === 'Changed by bob');
  },
  'CommunityRepository.getCommunities': async t => {
    await foreign(t);
    await foreign(t);
    const { communityId } = await foreign(t);
    const live = t.watch(callback => t.sdk.CommunityRepository.getCommunities({ membership: 'member', sortBy: 'lastCreated', limit: 2 }, callback));
    await live.until('the community, and a next page', snapshot => has(communityId)(snapshot) && snapshot.hasNextPage);
    live.last.onNextPage();
    await live.until('the next page', ({ data }) => data.length > 2);
    await t.bob.call('CommunityRepository.updateCommunity', communityId, { description: 'Changed by bob' });
    await live.until("bob's change", ({ data }) => data.some(community => community.description === 'Changed by bob'));
    const { data: other } = await t.bob.call('CommunityRepository.createCommunity', { displayName: t.name('Other'), isPublic: true });
    const others = t.watch(callback => t.sdk.CommunityRepository.getCommunities({ membership: 'notMember', sortBy: 'lastCreated' }, callback));
    await others.until('a community of others', has(other.communityId));
  },
  'CommunityRepository.searchCommunities': t => found(t,
    ({ displayName }, callback) => t.sdk.CommunityRepository.searchCommunities({ displayName, membership: 'all' }, callback)),
  'CommunityRepository.getTrendingCommunities': async t => {
    await t.newCommunity();
    const live = t.watch(callback => t.sdk.CommunityRepository.getTrendingCommunities({ limit: 5 }, callback));
    await live.until('communities', ({ data }) => data.length > 0);
  },
  'CommunityRepository.getRecommendedCommunities': async t => {
    const live = t.watch(callback => t.sdk.CommunityRepository.getRecommendedCommunities({ limit: 5 }, callback));
    await live.until('an answer', ({ data }) => Array.isArray(data));
  },
  'CommunityRepository.semanticSearchCommunities': t => found(t,
    ({ displayName }, callback) => t.sdk.CommunityRepository.semanticSearchCommunities({ query: displayName }, callback)),
  'CommunityRepository.getJoinRequestList': async t => {
    const { communityId } = await t.newCommunity({ requiresJoinApproval: true });
    await t.bob.request('POST', `/api/v4/communities/${communityId}/join`);
    const live = t.watch(callback => t.sdk.CommunityRepository.getJoinRequestList({ communityIds: [communityId] }, callback));
    await live.until("the user's own requests", ({ data }) => Array.isArray(data));
  },

  'CommunityRepository.onCommunityCreated': async t => {
    const displayName = t.name('New');
    await t.listen('CommunityRepository.onCommunityCreated', () => t.bob.call('CommunityRepository.createCommunity', { displayName, isPublic: true, userIds: [t.me] }),
      community => community.displayName === displayName);
  },
  'CommunityRepository.onCommunityUpdated': event('onCommunityUpdated',
    (t, { communityId }) => t.bob.call('CommunityRepository.updateCommunity', communityId, { description: 'Edited' }), community => community.description === 'Edited'),
  'CommunityRepository.onCommunityDeleted': event('onCommunityDeleted', (t, { communityId }) => t.bob.call('CommunityRepository.deleteCommunity', communityId)),

  'CommunityRepository.Moderation.addRoles': async t => {
    const { communityId } = await t.community();
    t.equal(await t.sdk.CommunityRepository.Moderation.addRoles(communityId, ['community-moderator'], [t.bob.id]), true);
    t.ok((await memberOf(t, communityId, t.bob.id)).roles.includes('community-moderator'));
  },
  'CommunityRepository.Moderation.removeRoles': async t => {
    const { communityId } = await t.community();
    await t.raw.CommunityRepository.Moderation.addRoles(communityId, ['community-moderator'], [t.carol.id]);
    t.equal(await t.sdk.CommunityRepository.Moderation.removeRoles(communityId, ['community-moderator'], [t.carol.id]), true);
    t.ok(!(await memberOf(t, communityId, t.carol.id)).roles.includes('community-moderator'));
  },
  'CommunityRepository.Moderation.banMembers': async t => {
    const { communityId } = await watched(t);
    const { data } = await t.sdk.CommunityRepository.Moderation.banMembers(communityId, [t.bob.id]);
    t.equal(data.find(user => user.userId === t.bob.id).communityMembership, 'banned');
  },
  'CommunityRepository.Moderation.unbanMembers': async t => {
    const { communityId } = await watched(t);
    await t.raw.CommunityRepository.Moderation.banMembers(communityId, [t.bob.id]);
    const { data } = await t.sdk.CommunityRepository.Moderation.unbanMembers(communityId, [t.bob.id]);
    t.ok(Array.isArray(data));
    t.equal(await t.bob.call('CommunityRepository.joinCommunity', communityId), true);
  },
  'CommunityRepository.Membership.addMembers': async t => {
    const { communityId } = await t.newCommunity();
    t.ok(await t.sdk.CommunityRepository.Membership.addMembers(communityId, [t.bob.id]));
    t.equal((await memberOf(t, communityId, t.bob.id)).communityMembership, 'member');
  },
  'CommunityRepository.Membership.removeMembers': async t => {
    const { communityId } = await watched(t);
    t.ok(await t.sdk.CommunityRepository.Membership.removeMembers(communityId, [t.bob.id]));
    t.ok(!await memberOf(t, communityId, t.bob.id));
  },
  'CommunityRepository.Membership.applyFilter': async t => {
    const { communityId } = await t.community();
    const rows = [{ communityId, userId: 'a', communityMembership: 'member', roles: [], createdAt: '2026-01-01T00:00:00Z' },
      { communityId, userId: 'b', communityMembership: 'banned', roles: [], createdAt: '2026-01-02T00:00:00Z' }];
    const left = t.sdk.CommunityRepository.Membership.applyFilter(rows, { communityId, memberships: ['banned'] });
    t.same(left.map(({ userId }) => userId), ['b']);
  },
  'CommunityRepository.Membership.getMembers': async t => {
    const { communityId } = await watched(t);
    const live = t.watch(callback => t.sdk.CommunityRepository.Membership.getMembers({ communityId, memberships: ['member'], limit: 10 }, callback));
    await live.until('the members', ({ data }) => data.length === 3 && data.some(({ user }) => user?.userId === t.bob.id));
    await t.bob.call('CommunityRepository.leaveCommunity', communityId);
    await live.until('that bob has left', snapshot => !member(t.bob.id)(snapshot));
    await t.bob.call('CommunityRepository.joinCommunity', communityId);
    await live.until('that bob is back', member(t.bob.id));
  },
  'CommunityRepository.Membership.searchMembers': async t => {
    const { communityId } = await watched(t);
    const live = t.watch(callback => t.sdk.CommunityRepository.Membership.searchMembers({ communityId, search: 'bob', memberships: ['member'] }, callback));
    await live.until('bob', ({ data }) => data.length === 1 && data[0].userId === t.bob.id);
  },

  'CommunityRepository.Membership.onCommunityUserAdded': memberEvent('onCommunityUserAdded', async (t, { communityId }) => {
    await moderate(t, 'bob', 'Membership.removeMembers', communityId, [t.carol.id]);
    await moderate(t, 'bob', 'Membership.addMembers', communityId, [t.carol.id]);
  }),
  'CommunityRepository.Membership.onCommunityUserRemoved': memberEvent('onCommunityUserRemoved',
    (t, { communityId }) => moderate(t, 'bob', 'Membership.removeMembers', communityId, [t.carol.id])),
  'CommunityRepository.Membership.onCommunityUserBanned': memberEvent('onCommunityUserBanned',
    (t, { communityId }) => moderate(t, 'bob', 'Moderation.banMembers', communityId, [t.carol.id])),
  'CommunityRepository.Membership.onCommunityUserUnbanned': memberEvent('onCommunityUserUnbanned', async (t, { communityId }) => {
    await moderate(t, 'bob', 'Moderation.banMembers', communityId, [t.carol.id]);
    await moderate(t, 'bob', 'Moderation.unbanMembers', communityId, [t.carol.id]);
  }),
  'CommunityRepository.Membership.onCommunityUserChanged': memberEvent('onCommunityUserChanged',
    (t, { communityId }) => moderate(t, 'bob', 'Moderation.addRoles', communityId, ['community-moderator'], [t.carol.id])),
  'CommunityRepository.Membership.onCommunityUserRoleAdded': memberEvent('onCommunityUserRoleAdded',
    (t, { communityId }) => moderate(t, 'bob', 'Moderation.addRoles', communityId, ['community-moderator'], [t.carol.id])),
  'CommunityRepository.Membership.onCommunityUserRoleRemoved': memberEvent('onCommunityUserRoleRemoved', async (t, { communityId }) => {
    await moderate(t, 'bob', 'Moderation.addRoles', communityId, ['community-moderator'], [t.carol.id]);
    await moderate(t, 'bob', 'Moderation.removeRoles', communityId, ['community-moderator'], [t.carol.id]);
  }),
  'CommunityRepository.Membership.onCommunityJoined': memberEvent('onCommunityJoined', async (t, { communityId }) => {
    await t.carol.call('CommunityRepository.leaveCommunity', communityId);
    await t.carol.call('CommunityRepository.joinCommunity', communityId);
  }),
  'CommunityRepository.Membership.onCommunityLeft': memberEvent('onCommunityLeft', (t, { communityId }) => t.carol.call('CommunityRepository.leaveCommunity', communityId)),
  'CommunityRepository.Membership.onLocalCommunityJoined': ownEvent('onLocalCommunityJoined', (t, { communityId }) => t.raw.CommunityRepository.joinCommunity(communityId)),
  'CommunityRepository.Membership.onLocalCommunityJoin': async t => {
    const { data: { communityId } } = await t.bob.call('CommunityRepository.createCommunity', { displayName: t.name('Own'), isPublic: true });
    const live = t.watch(callback => t.raw.CommunityRepository.getCommunity(communityId, callback));
    const { data } = await live.until('the community', ({ data }) => data?.communityId === communityId);
    await t.listen('CommunityRepository.Membership.onLocalCommunityJoin', () => data.join());
  },
  'CommunityRepository.Membership.onLocalCommunityLeft': ownEvent('onLocalCommunityLeft', async (t, { communityId }) => {
    await t.raw.CommunityRepository.joinCommunity(communityId);
    await t.raw.CommunityRepository.leaveCommunity(communityId);
  }),
  'CommunityRepository.Membership.onLocalCommunityUserAdded': localMembers('onLocalCommunityUserAdded', 'addMembers'),
  'CommunityRepository.Membership.onLocalCommunityUserRemoved': localMembers('onLocalCommunityUserRemoved', 'removeMembers'),
};

function localMembers(name, change) {
  return async t => {
    const { communityId } = await t.newCommunity({ userIds: change === 'removeMembers' ? [t.bob.id] : [] });
    await t.listen(`CommunityRepository.Membership.${name}`, () => t.raw.CommunityRepository.Membership[change](communityId, [t.bob.id]),
      heard => heard.communityId === communityId);
  };
}
