// Channels, their members and their moderation.

const has = channelId => ({ data }) => data.some(channel => channel.channelId === channelId);
const rows = (t, channelId) => t.admin('GET', `/api/v4/channels/${channelId}/users?memberships[]=member&memberships[]=banned&memberships[]=muted`)
  .then(({ channelUsers }) => channelUsers);
const row = async (t, channelId, userId) => (await rows(t, channelId)).find(user => user.userId === userId);

// foreign returns a new channel of bob, in which the user and carol are members. Its events reach members without a
// subscription.
async function foreign(t, bundle) {
  const { data } = await t.bob.call('ChannelRepository.createChannel', { type: 'community', displayName: t.name('Hut'), userIds: [t.me, t.carol.id], ...bundle });
  return data;
}

const event = (name, act, condition = () => true) => async t => {
  const channel = await foreign(t);
  await t.listen(`ChannelRepository.${name}`, () => act(t, channel), (heard, member) => heard.channelId === channel.channelId && condition(heard, member));
};
// ownEvent checks a listener of what the user does as moderator on this device.
const ownEvent = (name, act) => async t => {
  const channel = await t.newChannel();
  await t.listen(`ChannelRepository.${name}`, () => act(t, channel), heard => heard.channelId === channel.channelId);
};
const bob = (t, path, ...args) => t.bob.call(`ChannelRepository.${path}`, ...args);

// raw returns the payload of a channel as the server sends it.
const raw = async (t, channelId) => t.request('GET', `/api/v3/channels/${channelId}`);

module.exports = {
  'ChannelRepository.createChannel': async t => {
    const displayName = t.name('Wall');
    const { data } = await t.sdk.ChannelRepository.createChannel({ type: 'community', displayName, tags: ['rock'], metadata: { size: 7 }, userIds: [t.bob.id] });
    t.equal(data.displayName, displayName);
    t.equal(data.type, 'community');
    t.same(data.tags, ['rock']);
    t.equal(data.metadata.size, 7);
    t.equal(data.memberCount, 2);
    const { data: talk } = await t.sdk.ChannelRepository.createChannel({ type: 'conversation', userIds: [t.carol.id] });
    t.equal(talk.type, 'conversation');
    t.equal((await t.sdk.ChannelRepository.createChannel({ type: 'conversation', userIds: [t.carol.id] })).data.channelId, talk.channelId);
  },
  'ChannelRepository.updateChannel': async t => {
    const { channelId } = await t.newChannel();
    const { data } = await t.sdk.ChannelRepository.updateChannel(channelId, { displayName: 'Renamed', metadata: { size: 8 } });
    t.equal(data.displayName, 'Renamed');
    t.equal(data.metadata.size, 8);
  },
  'ChannelRepository.deleteChannel': async t => {
    const { channelId } = await t.newChannel();
    const channel = await t.sdk.ChannelRepository.deleteChannel(channelId);
    t.equal(channel.channelId, channelId);
    t.equal(channel.isDeleted, true);
  },
  'ChannelRepository.getChannelByIds': async t => {
    const ids = [(await t.newChannel()).channelId, (await t.newChannel()).channelId];
    const { data } = await t.sdk.ChannelRepository.getChannelByIds(ids);
    t.same(data.map(({ channelId }) => channelId).sort(), ids.sort());
  },
  'ChannelRepository.joinChannel': async t => {
    const { channelId } = await foreign(t, { userIds: [] });
    t.equal(await t.sdk.ChannelRepository.joinChannel(channelId), true);
    t.equal((await row(t, channelId, t.me)).membership, 'member');
  },
  'ChannelRepository.leaveChannel': async t => {
    const { channelId } = await foreign(t);
    t.equal(await t.sdk.ChannelRepository.leaveChannel(channelId), true);
    t.ok(!await row(t, channelId, t.me));
  },
  'ChannelRepository.muteChannel': async t => {
    const { channelId } = await t.newChannel();
    t.equal(await t.sdk.ChannelRepository.muteChannel(channelId, 60_000), true);
    t.equal((await raw(t, channelId)).channels[0].isMuted, true);
  },
  'ChannelRepository.unmuteChannel': async t => {
    const { channelId } = await t.newChannel();
    await t.raw.ChannelRepository.muteChannel(channelId, 60_000);
    t.equal(await t.sdk.ChannelRepository.unmuteChannel(channelId), true);
    t.equal((await raw(t, channelId)).channels[0].isMuted, false);
  },
  'ChannelRepository.markAsRead': async t => {
    const channel = await foreign(t);
    await t.bob.call('MessageRepository.createMessage', { subChannelId: channel.defaultSubChannelId, dataType: 'text', data: { text: 'Hello' } });
    t.equal(await t.sdk.ChannelRepository.markAsRead(channel.channelInternalId), true);
    const { userEntityMarkers } = await t.request('GET', `/api/v1/markers/channels?channelIds[]=${channel.channelInternalId}`);
    t.equal(userEntityMarkers[0].unreadCount, 0);
  },

  'ChannelRepository.getChannel': async t => {
    const { channelId, displayName } = await foreign(t);
    const live = t.watch(callback => t.sdk.ChannelRepository.getChannel(channelId, callback));
    await live.until('the channel', ({ data }) => data?.displayName === displayName);
    await bob(t, 'updateChannel', channelId, { displayName: 'Changed by bob' });
    await live.until("bob's change", ({ data }) => data.displayName === 'Changed by bob');
    await bob(t, 'deleteChannel', channelId);
    await live.until('the deletion', ({ data }) => data.isDeleted);
  },
  'ChannelRepository.getChannels': async t => {
    for (let i = 0; i < 3; i++) await foreign(t);
    const live = t.watch(callback => t.sdk.ChannelRepository.getChannels({ types: ['community'], membership: 'member', sortBy: 'lastActivity', limit: 2 }, callback));
    await live.until('the channels, and a next page', ({ data, hasNextPage }) => data.length >= 2 && hasNextPage);
    const { channelId } = await foreign(t);
    await live.until("bob's channel", has(channelId));
    const count = live.last.data.length;
    live.last.onNextPage();
    await live.until('the next page', ({ data }) => data.length > count);
    await bob(t, 'updateChannel', channelId, { displayName: 'Changed by bob' });
    await live.until("bob's change", ({ data }) => data.some(channel => channel.displayName === 'Changed by bob'));
  },
  'ChannelRepository.observeChannel': async t => {
    const { channelId } = await foreign(t);
    const live = t.watch(callback => t.sdk.ChannelRepository.observeChannel(channelId, callback));
    await live.until('the channel', ({ data }) => data?.channelId === channelId);
    await bob(t, 'updateChannel', channelId, { displayName: 'Changed by bob' });
    await live.until("bob's change", ({ data }) => data.displayName === 'Changed by bob');
  },
  'ChannelRepository.observeChannels': async t => {
    const { channelId } = await foreign(t);
    const live = t.watch(callback => t.sdk.ChannelRepository.observeChannels(callback));
    await bob(t, 'updateChannel', channelId, { displayName: 'Changed by bob' });
    await live.heard("bob's change", channel => channel.channelId === channelId && channel.displayName === 'Changed by bob');
  },
  'ChannelRepository.getTotalChannelsUnread': async t => {
    const { defaultSubChannelId } = await foreign(t);
    t.watch(callback => t.raw.ChannelRepository.getChannels({ membership: 'member' }, callback));
    const live = t.watch(callback => t.sdk.ChannelRepository.getTotalChannelsUnread(callback));
    const before = (await live.until('a number', ({ data }) => data)).data.unreadCount;
    await t.bob.call('MessageRepository.createMessage', { subChannelId: defaultSubChannelId, dataType: 'text', data: { text: 'Hello' } });
    await live.until('one more', ({ data }) => data.unreadCount === before + 1);
  },
  'ChannelRepository.isUnreadCountSupport': async t => {
    t.equal(t.sdk.ChannelRepository.isUnreadCountSupport({ type: 'community' }), true);
    t.equal(t.sdk.ChannelRepository.isUnreadCountSupport({ type: 'live' }), false);
  },
  'ChannelRepository.convertFromRaw': async t => {
    const { channels } = await raw(t, (await t.channel()).channelId);
    const channel = t.sdk.ChannelRepository.convertFromRaw(channels[0]);
    t.equal(channel.channelId, channels[0].channelId);
    t.equal(channel.defaultSubChannelId, channels[0].channelInternalId);
  },
  'ChannelRepository.preUpdateChannelCache': async t => {
    const payload = await raw(t, (await t.newChannel()).channelId);
    t.sdk.ChannelRepository.preUpdateChannelCache(payload);
    t.ok(t.raw.pullFromCache(['channel', 'get', payload.channels[0].channelId]));
  },
  'ChannelRepository.prepareChannelPayload': async t => {
    const payload = await raw(t, (await t.channel()).channelId);
    const { channels, users } = await t.sdk.ChannelRepository.prepareChannelPayload(payload);
    t.equal(channels[0].channelId, payload.channels[0].channelId);
    t.equal(channels[0].defaultSubChannelId, payload.channels[0].channelInternalId);
    t.ok(Array.isArray(users));
  },

  'ChannelRepository.Membership.addMembers': async t => {
    const { channelId } = await t.newChannel({ userIds: [] });
    t.equal(await t.sdk.ChannelRepository.Membership.addMembers(channelId, [t.bob.id]), true);
    t.equal((await row(t, channelId, t.bob.id)).membership, 'member');
  },
  'ChannelRepository.Membership.removeMembers': async t => {
    const { channelId } = await t.newChannel();
    t.equal(await t.sdk.ChannelRepository.Membership.removeMembers(channelId, [t.bob.id]), true);
    t.ok(!await row(t, channelId, t.bob.id));
  },
  'ChannelRepository.Membership.applyFilter': async t => {
    const { channelId } = await t.channel();
    const members = [{ channelId, userId: 'a', membership: 'member', roles: [] }, { channelId, userId: 'b', membership: 'banned', roles: [], isBanned: true }];
    const left = t.sdk.ChannelRepository.Membership.applyFilter(members, { channelId, memberships: ['banned'] });
    t.same(left.map(({ userId }) => userId), ['b']);
  },
  'ChannelRepository.Membership.getMembers': async t => {
    const { channelId } = await foreign(t);
    const live = t.watch(callback => t.sdk.ChannelRepository.Membership.getMembers({ channelId, memberships: ['member'] }, callback));
    await live.until('the members', ({ data }) => data.length === 3 && data.some(({ userId }) => userId === t.bob.id));
    await t.carol.call('ChannelRepository.leaveChannel', channelId);
    await live.until('that carol has left', ({ data }) => data.every(({ userId, membership }) => userId !== t.carol.id || membership !== 'member'));
  },
  'ChannelRepository.Membership.searchMembers': async t => {
    const { channelId } = await foreign(t);
    const live = t.watch(callback => t.sdk.ChannelRepository.Membership.searchMembers({ channelId, search: 'bob', memberships: ['member'] }, callback));
    await live.until('bob', ({ data }) => data.length === 1 && data[0].userId === t.bob.id);
  },
  'ChannelRepository.Moderation.addRole': async t => {
    const { channelId } = await t.newChannel();
    t.equal(await t.sdk.ChannelRepository.Moderation.addRole(channelId, 'channel-moderator', [t.bob.id]), true);
    t.ok((await row(t, channelId, t.bob.id)).roles.includes('channel-moderator'));
  },
  'ChannelRepository.Moderation.removeRole': async t => {
    const { channelId } = await t.newChannel();
    await t.raw.ChannelRepository.Moderation.addRole(channelId, 'channel-moderator', [t.bob.id]);
    t.equal(await t.sdk.ChannelRepository.Moderation.removeRole(channelId, 'channel-moderator', [t.bob.id]), true);
    t.ok(!(await row(t, channelId, t.bob.id)).roles.includes('channel-moderator'));
  },
  'ChannelRepository.Moderation.banMembers': async t => {
    const { channelId } = await t.newChannel();
    const { data } = await t.sdk.ChannelRepository.Moderation.banMembers(channelId, [t.bob.id]);
    t.equal(data.find(({ userId }) => userId === t.bob.id).membership, 'banned');
  },
  'ChannelRepository.Moderation.unbanMembers': async t => {
    const { channelId } = await t.newChannel();
    await t.raw.ChannelRepository.Moderation.banMembers(channelId, [t.bob.id]);
    const { data } = await t.sdk.ChannelRepository.Moderation.unbanMembers(channelId, [t.bob.id]);
    t.ok(Array.isArray(data));
    t.equal(await bob(t, 'joinChannel', channelId), true);
  },
  'ChannelRepository.Moderation.muteMembers': async t => {
    const { channelId } = await t.newChannel();
    t.equal(await t.sdk.ChannelRepository.Moderation.muteMembers(channelId, [t.bob.id], 60_000), true);
    t.equal((await row(t, channelId, t.bob.id)).isMuted, true);
  },
  'ChannelRepository.Moderation.unmuteMembers': async t => {
    const { channelId } = await t.newChannel();
    await t.raw.ChannelRepository.Moderation.muteMembers(channelId, [t.bob.id], 60_000);
    t.equal(await t.sdk.ChannelRepository.Moderation.unmuteMembers(channelId, [t.bob.id]), true);
    t.equal((await row(t, channelId, t.bob.id)).isMuted, false);
  },

  'ChannelRepository.onChannelCreated': async t => {
    const displayName = t.name('New');
    await t.listen('ChannelRepository.onChannelCreated', () => foreign(t, { displayName }), channel => channel.displayName === displayName);
  },
  'ChannelRepository.onChannelUpdated': event('onChannelUpdated',
    (t, { channelId }) => bob(t, 'updateChannel', channelId, { displayName: 'Renamed' }), channel => channel.displayName === 'Renamed'),
  'ChannelRepository.onChannelDeleted': event('onChannelDeleted', (t, { channelId }) => bob(t, 'deleteChannel', channelId)),
  'ChannelRepository.onChannelJoined': event('onChannelJoined', async (t, { channelId }) => {
    await t.carol.call('ChannelRepository.leaveChannel', channelId);
    await t.carol.call('ChannelRepository.joinChannel', channelId);
  }),
  'ChannelRepository.onChannelLeft': event('onChannelLeft', (t, { channelId }) => t.carol.call('ChannelRepository.leaveChannel', channelId)),
  'ChannelRepository.onChannelMuted': event('onChannelMuted', (t, { channelId }) => bob(t, 'muteChannel', channelId, 60_000)),
  'ChannelRepository.onChannelSetMuted': event('onChannelSetMuted', async (t, { channelId }) => {
    await t.raw.ChannelRepository.getChannelByIds([channelId]); // the listener changes the channel in the cache
    await bob(t, 'muteChannel', channelId, 60_000);
  }, channel => channel.isMuted),
  'ChannelRepository.onChannelMemberAdded': event('onChannelMemberAdded', async (t, { channelId }) => {
    await bob(t, 'Membership.removeMembers', channelId, [t.carol.id]);
    await bob(t, 'Membership.addMembers', channelId, [t.carol.id]);
  }),
  'ChannelRepository.onChannelMemberRemoved': event('onChannelMemberRemoved', (t, { channelId }) => bob(t, 'Membership.removeMembers', channelId, [t.carol.id])),
  'ChannelRepository.onChannelMemberBanned': event('onChannelMemberBanned', (t, { channelId }) => bob(t, 'Moderation.banMembers', channelId, [t.carol.id])),
  'ChannelRepository.onChannelMemberUnbanned': event('onChannelMemberUnbanned', async (t, { channelId }) => {
    await bob(t, 'Moderation.banMembers', channelId, [t.carol.id]);
    await bob(t, 'Moderation.unbanMembers', channelId, [t.carol.id]);
  }),
  'ChannelRepository.onChannelMemberRoleAdded': ownEvent('onChannelMemberRoleAdded',
    (t, { channelId }) => t.raw.ChannelRepository.Moderation.addRole(channelId, 'channel-moderator', [t.bob.id])),
  'ChannelRepository.onChannelMemberRoleRemoved': ownEvent('onChannelMemberRoleRemoved', async (t, { channelId }) => {
    await t.raw.ChannelRepository.Moderation.addRole(channelId, 'channel-moderator', [t.bob.id]);
    await t.raw.ChannelRepository.Moderation.removeRole(channelId, 'channel-moderator', [t.bob.id]);
  }),
};
