// Functions outside of a namespace: the cache, queries, filters, orders, topics, reports, roles and markers.

const entries = [{ id: 'a', n: 1, tags: ['x'] }, { id: 'b', n: 2, tags: ['y'] }];
const dates = (key, t, path, expected) => {
  const rows = [{ id: 1, [key]: '2026-01-01T00:00:00Z' }, { id: 2, [key]: '2026-01-02T00:00:00Z' }];
  t.same(rows.sort(t.sdk[path]).map(({ id }) => id), expected);
};
const numbers = (key, t, path) => t.same([{ [key]: 2 }, { [key]: 1 }].sort(t.sdk[path]).map(row => row[key]), [1, 2]);
const names = (key, t, path) => t.same([{ [key]: 'b' }, { [key]: 'a' }].sort(t.sdk[path]).map(row => row[key]), ['a', 'b']);

// network returns the id that topics begin with.
const network = t => t.raw.Client.getActiveUser().path.split('/user/')[0];
const internalId = t => t.raw.Client.getActiveUser()._id;

// accepted checks a topic: the server accepts a subscription to it.
async function accepted(t, topic, expected) {
  t.equal(topic, expected);
  await t.subscribe(topic);
}

// report checks functions for reports, which serve four kinds of objects.
async function reported(t, act) {
  const kinds = [['post', (await t.foreignPost()).postId], ['comment', (await t.foreignComment()).commentId],
    ['message', (await t.foreignMessage()).messageId], ['user', t.bob.id]];
  for (const [kind, id] of kinds) await act(kind, id);
  await t.raw.deleteReport('user', t.bob.id);
}

// marked lets bob write while unread counts are synchronised, and waits for the listener.
const marked = name => async t => {
  const channel = await t.channel();
  await t.raw.Client.startUnreadSync();
  try {
    const watch = t.watch(callback => t.sdk[name](callback));
    t.watch(callback => t.raw.ChannelRepository.getChannel(channel.channelId, callback));
    t.watch(callback => t.raw.SubChannelRepository.getSubChannel(channel.defaultSubChannelId, callback));
    t.watch(callback => t.raw.MessageRepository.getMessages({ subChannelId: channel.defaultSubChannelId, limit: 5 }, callback));
    await t.foreignMessage();
    await t.raw.Client.markerSync(new Date(0).toISOString());
    await watch.heard(name, value => value !== undefined);
  } finally {
    await t.raw.Client.stopUnreadSync();
  }
};

const message = async t => (await t.request('GET', `/api/v5/messages/${(await t.message()).messageId}`)).messages[0];

module.exports = {
  AmityAttachmentProductTags: async t => {
    const tags = new t.sdk.AmityAttachmentProductTags();
    tags.set('file', [{ productId: 'a' }]);
    t.same(tags.get('file'), [{ productId: 'a' }]);
    t.same(tags.get('other'), []);
  },

  enableCache: async t => {
    t.sdk.enableCache();
    t.ok(t.raw.Client.getActiveClient().cache);
  },
  disableCache: async t => {
    t.sdk.disableCache();
    t.ok(!t.raw.Client.getActiveClient().cache);
    t.raw.enableCache();
  },
  pushToCache: async t => {
    t.equal(t.sdk.pushToCache(['sdktest', 'push'], { n: 1 }), true);
    t.equal(t.raw.pullFromCache(['sdktest', 'push']).data.n, 1);
  },
  pullFromCache: async t => {
    t.raw.pushToCache(['sdktest', 'pull'], { n: 1 });
    t.equal(t.sdk.pullFromCache(['sdktest', 'pull']).data.n, 1);
    t.equal(t.sdk.pullFromCache(['sdktest', 'absent']), undefined);
  },
  mergeInCache: async t => {
    t.raw.pushToCache(['sdktest', 'merge'], { a: 1 });
    t.equal(t.sdk.mergeInCache(['sdktest', 'merge'], { b: 2 }), true);
    t.same(t.raw.pullFromCache(['sdktest', 'merge']).data, { a: 1, b: 2 });
  },
  upsertInCache: async t => {
    t.equal(t.sdk.upsertInCache(['sdktest', 'upsert'], { a: 1 }), true);
    t.same(t.raw.pullFromCache(['sdktest', 'upsert']).data, { a: 1 });
  },
  queryCache: async t => {
    t.raw.pushToCache(['sdktest', 'query', 'a'], { n: 1 });
    t.raw.pushToCache(['sdktest', 'query', 'b'], { n: 2 });
    t.equal(t.sdk.queryCache(['sdktest', 'query']).length, 2);
  },
  dropFromCache: async t => {
    t.raw.pushToCache(['sdktest', 'drop'], { n: 1 });
    t.equal(t.sdk.dropFromCache(['sdktest', 'drop']), true);
    t.equal(t.raw.pullFromCache(['sdktest', 'drop']), undefined);
  },
  backupCache: async t => {
    t.raw.pushToCache(['sdktest', 'backup'], { n: 1 }, { offline: true });
    t.equal(await t.sdk.backupCache(), true);
    t.match(localStorage.getItem(`amitySdk#${t.me}`), /backup/);
  },
  restoreCache: async t => {
    t.raw.pushToCache(['sdktest', 'restore'], { n: 1 }, { offline: true });
    await t.raw.backupCache();
    t.raw.dropFromCache(['sdktest', 'restore']);
    t.equal(await t.sdk.restoreCache(), true);
    t.equal(t.raw.pullFromCache(['sdktest', 'restore']).data.n, 1);
  },
  wipeCache: async t => {
    await t.sdk.wipeCache();
    t.equal(t.raw.pullFromCache(['sdktest', 'restore']), undefined);
  },

  createQuery: async t => {
    const query = t.sdk.createQuery(Math.max, 1, 2);
    t.same(query.args, [1, 2]);
    t.equal(query.func, Math.max);
  },
  queryOptions: async t => {
    t.equal(t.sdk.queryOptions('cache_only').lifeSpan, Infinity);
  },
  runQuery: async t => {
    const live = t.watch(callback => t.sdk.runQuery(t.raw.createQuery(t.raw.UserRepository.getUserByIds, [t.bob.id]), callback));
    await live.until('bob', ({ data }) => data?.some(({ userId }) => userId === t.bob.id));
  },
  isFetcher: async t => {
    t.equal(t.sdk.isFetcher(t.raw.UserRepository.getUserByIds), true);
    t.equal(t.sdk.isFetcher(() => {}), false);
  },
  isMutator: async t => {
    t.equal(t.sdk.isMutator(t.raw.ReactionRepository.addReaction), true);
    t.equal(t.sdk.isMutator(() => {}), false);
  },
  isOffline: async t => {
    t.equal(t.sdk.isOffline(t.raw.UserRepository.getUserByIds), true);
    t.equal(t.sdk.isOffline(() => {}), false);
  },
  isCachable: async t => {
    t.equal(t.sdk.isCachable({ cachedAt: 1 }), true);
    t.ok(!t.sdk.isCachable({}));
  },
  isLocal: async t => {
    t.equal(t.sdk.isLocal({ cachedAt: -1 }), true);
    t.equal(t.sdk.isLocal({ cachedAt: 1 }), false);
  },
  isFresh: async t => {
    t.equal(t.sdk.isFresh({ cachedAt: Date.now() }), true);
    t.equal(t.sdk.isFresh({ cachedAt: 0 }), false);
  },
  isPaged: async t => {
    t.equal(t.sdk.isPaged({ data: [], nextPage: undefined, prevPage: undefined }), true);
    t.equal(t.sdk.isPaged({}), false);
  },
  isSkip: async t => {
    t.equal(t.sdk.isSkip({ skip: 0 }), true);
    t.equal(t.sdk.isSkip({ after: 0 }), false);
  },
  isAfterBefore: async t => {
    t.equal(t.sdk.isAfterBefore({ after: 0 }), true);
    t.equal(t.sdk.isAfterBefore({ skip: 0 }), false);
  },
  isAfterBeforeRaw: async t => {
    t.equal(t.sdk.isAfterBeforeRaw({ limit: 5 }), true);
    t.equal(t.sdk.isAfterBeforeRaw({ skip: 5 }), false);
  },
  toPage: async t => {
    const token = Buffer.from('{"skip":10,"limit":5}').toString('base64');
    t.same(t.sdk.toPage(token), { after: 10, limit: 5 });
    const { paging } = await t.request('GET', '/api/v3/roles?options[limit]=1');
    t.ok(paging.next === undefined || t.sdk.toPage(paging.next) !== null);
  },
  toPageRaw: async t => {
    const token = Buffer.from('{"after":"a","limit":5}').toString('base64');
    t.same(t.sdk.toPageRaw(token), { after: 'a', limit: 5 });
  },
  toToken: async t => {
    t.same(JSON.parse(Buffer.from(t.sdk.toToken({ after: 10, limit: 5 }, 'skiplimit'), 'base64')), { skip: 10, limit: 5 });
  },

  filterByPropEquality: async t => t.same(t.sdk.filterByPropEquality(entries, 'n', 2), [entries[1]]),
  filterByPropInclusion: async t => t.same(t.sdk.filterByPropInclusion(entries, 'id', ['a']), [entries[0]]),
  filterByPropIntersection: async t => t.same(t.sdk.filterByPropIntersection(entries, 'tags', ['y', 'z']), [entries[1]]),
  filterByStringComparePartially: async t => t.same(t.sdk.filterByStringComparePartially([{ name: 'Rope' }, { name: 'Shoe' }], 'name', 'rop'), [{ name: 'Rope' }]),
  filterBySearchTerm: async t => {
    const users = [{ userId: 'a', user: { displayName: 'Ann' } }, { userId: 'b', user: { displayName: 'Bea' } }];
    t.same(t.sdk.filterBySearchTerm(users, 'be').map(({ userId }) => userId), ['b']);
  },
  filterByPostDataTypes: async t => t.equal(t.sdk.filterByPostDataTypes([{ dataType: 'image' }, { dataType: 'text' }], ['image']).length, 1),
  filterByFeedType: async t => {
    const post = await t.post();
    await t.raw.PostRepository.getPostByIds([post.postId]);
    t.equal(t.sdk.filterByFeedType([post], 'published').length, 1);
    t.equal(t.sdk.filterByFeedType([post], 'declined').length, 0);
  },
  filterByCommunityMembership: async t => {
    const { communityId } = await t.community();
    const { data } = await t.raw.CommunityRepository.getCommunityByIds([communityId]);
    t.equal(t.sdk.filterByCommunityMembership(data, 'member', t.me).length, 1);
    t.equal(t.sdk.filterByCommunityMembership(data, 'all', t.me).length, 1);
  },
  filterByChannelMembership: async t => {
    const { data } = await t.raw.ChannelRepository.getChannelByIds([(await t.channel()).channelId]);
    t.equal(t.sdk.filterByChannelMembership(data, 'all', t.me).length, 1);
    t.equal(t.sdk.filterByChannelMembership(data, 'member', t.me).length, 1);
  },
  filterByUntilAt: async t => t.equal(t.sdk.filterByUntilAt([{ createdAt: '2026-01-01T00:00:00Z' }, { createdAt: '2026-01-03T00:00:00Z' }], '2026-01-02T00:00:00Z', 'lastCreated').length, 1),
  exceedsUntilAtBoundary: async t => {
    t.equal(t.sdk.exceedsUntilAtBoundary('2026-01-01T00:00:00Z', '2026-01-02T00:00:00Z', 'lastCreated'), true);
    t.equal(t.sdk.exceedsUntilAtBoundary('2026-01-03T00:00:00Z', '2026-01-02T00:00:00Z', 'lastCreated'), false);
  },
  validateUntilAt: async t => {
    t.equal(t.sdk.validateUntilAt('2026-01-01T00:00:00Z'), '2026-01-01T00:00:00Z');
    t.equal(t.sdk.validateUntilAt('no date'), undefined);
  },

  sortByFirstCreated: async t => dates('createdAt', t, 'sortByFirstCreated', [1, 2]),
  sortByLastCreated: async t => dates('createdAt', t, 'sortByLastCreated', [2, 1]),
  sortByFirstUpdated: async t => dates('updatedAt', t, 'sortByFirstUpdated', [1, 2]),
  sortByLastUpdated: async t => dates('updatedAt', t, 'sortByLastUpdated', [2, 1]),
  sortByLastActivity: async t => dates('lastActivity', t, 'sortByLastActivity', [2, 1]),
  sortByLocalSortingDate: async t => dates('localSortingDate', t, 'sortByLocalSortingDate', [2, 1]),
  sortByChannelSegment: async t => numbers('channelSegment', t, 'sortByChannelSegment'),
  sortBySegmentNumber: async t => numbers('segmentNumber', t, 'sortBySegmentNumber'),
  sortByName: async t => names('name', t, 'sortByName'),
  sortByDisplayName: async t => names('displayName', t, 'sortByDisplayName'),

  subscribeTopic: async t => {
    const { path } = await t.community();
    const answer = t.watch(callback => t.sdk.subscribeTopic(path, callback));
    await answer.heard('the answer', error => !error);
  },
  getNetworkTopic: t => accepted(t, t.sdk.getNetworkTopic(), network(t)),
  getUserTopic: t => accepted(t, t.sdk.getUserTopic(t.raw.Client.getActiveUser()), t.raw.Client.getActiveUser().path),
  getCommunityTopic: async t => {
    const community = await t.community();
    await accepted(t, t.sdk.getCommunityTopic(community), community.path);
    await accepted(t, t.sdk.getCommunityTopic(community, 'post'), `${community.path}/post/+`);
    await accepted(t, t.sdk.getCommunityTopic(community, 'comment'), `${community.path}/post/+/comment/+`);
    await accepted(t, t.sdk.getCommunityTopic(community, 'post_and_comment'), `${community.path}/post/#`);
  },
  getPostTopic: async t => {
    const post = await t.post();
    await accepted(t, t.sdk.getPostTopic(post), post.path);
    await accepted(t, t.sdk.getPostTopic(post, 'comment'), `${post.path}/comment/+`);
  },
  getCommentTopic: async t => {
    const comment = await t.comment();
    await accepted(t, t.sdk.getCommentTopic(comment), comment.path);
  },
  getStoryTopic: async t => {
    const { communityId, path } = await t.community();
    const { data } = await t.raw.StoryRepository.createImageStory('community', communityId, t.imageForm());
    await accepted(t, t.sdk.getStoryTopic({ targetId: communityId, targetType: 'community', storyId: data.storyId }), `${path}/story/${data.storyId}/#`);
  },
  getCommunityStoriesTopic: async t => {
    const { communityId, path } = await t.community();
    await accepted(t, t.sdk.getCommunityStoriesTopic({ targetId: communityId, targetType: 'community' }), `${path}/story/#`);
  },
  getChannelTopic: async t => {
    const channel = await t.channel();
    await accepted(t, t.sdk.getChannelTopic(channel), `${channel.path}/#`);
  },
  getSubChannelTopic: async t => {
    const { data } = await t.raw.SubChannelRepository.getSubChannelByIds([await t.subChannelId()]);
    await accepted(t, t.sdk.getSubChannelTopic(data[0]), `${data[0].path}/#`);
  },
  getMessageTopic: async t => {
    const { path } = await message(t);
    await accepted(t, t.sdk.getMessageTopic({ path }), path);
  },
  getMarkedMessageTopic: async t => {
    const { channelInternalId } = await t.channel();
    const subChannelId = await t.subChannelId();
    await accepted(t, t.sdk.getMarkedMessageTopic({ channelId: channelInternalId, subChannelId }), `${network(t)}/marker/channel/${channelInternalId}/message/${subChannelId}`);
  },
  getMarkerUserFeedTopic: t => accepted(t, t.sdk.getMarkerUserFeedTopic(), `${network(t)}/marker/user/${internalId(t)}`),
  getMyFollowersTopic: t => accepted(t, t.sdk.getMyFollowersTopic(), `${network(t)}/membership/${internalId(t)}/+/+`),
  getMyFollowingsTopic: t => accepted(t, t.sdk.getMyFollowingsTopic(), `${network(t)}/membership/+/${internalId(t)}/+`),
  getSmartFeedChannelTopic: t => accepted(t, t.sdk.getSmartFeedChannelTopic(), `${network(t)}/smartfeed/${internalId(t)}/channels`),
  getSmartFeedSubChannelTopic: t => accepted(t, t.sdk.getSmartFeedSubChannelTopic(), `${network(t)}/smartfeed/${internalId(t)}/messagefeeds`),
  getSmartFeedMessageTopic: t => accepted(t, t.sdk.getSmartFeedMessageTopic(), `${network(t)}/smartfeed/${internalId(t)}/messages`),
  getLiveStreamTopic: t => accepted(t, t.sdk.getLiveStreamTopic(), `${network(t)}/videostreaming`),
  getLiveReactionTopic: async t => {
    const post = await t.post();
    await accepted(t, t.sdk.getLiveReactionTopic(post), `${post.path}/liveReaction`);
  },
  getRoomWatcherTopic: async t => {
    const { data } = await t.raw.RoomRepository.createRoom({ title: t.name('Camp'), type: 'coHosts' });
    await accepted(t, t.sdk.getRoomWatcherTopic(data), `${network(t)}/room/${data._id}`);
  },
  getRoomStreamerTopic: async t => {
    const { data } = await t.raw.RoomRepository.createRoom({ title: t.name('Camp'), type: 'coHosts' });
    await accepted(t, t.sdk.getRoomStreamerTopic(data), `${network(t)}/room/${data.roomId}/streamer`);
  },

  createReport: t => reported(t, async (kind, id) => t.equal(await t.sdk.createReport(kind, id), true)),
  deleteReport: t => reported(t, async (kind, id) => {
    await t.raw.createReport(kind, id);
    t.equal(await t.sdk.deleteReport(kind, id), true);
  }),
  isReportedByMe: t => reported(t, async (kind, id) => {
    t.equal(await t.sdk.isReportedByMe(kind, id), false);
    await t.raw.createReport(kind, id);
    t.equal(await t.sdk.isReportedByMe(kind, id), true);
  }),
  queryRoles: async t => {
    const { data, nextPage, paging } = await t.sdk.queryRoles({ sortBy: 'displayName', limit: 2 });
    t.equal(data.length, 2);
    t.ok(nextPage || paging.next);
  },
  getRole: async t => {
    const { data: [role] } = await t.raw.queryRoles({});
    t.equal((await t.sdk.getRole(role.roleId)).data.roleId, role.roleId);
  },

  onUserMarkerFetched: marked('onUserMarkerFetched'),
  onUserMarkerFetchedLegacy: marked('onUserMarkerFetchedLegacy'),
  onChannelMarkerFetched: marked('onChannelMarkerFetched'),
  onSubChannelMarkerFetched: marked('onSubChannelMarkerFetched'),
  onFeedMarkerFetched: marked('onFeedMarkerFetched'),
  onMessageMarkerFetched: async t => {
    await t.listen('onMessageMarkerFetched', async () => {
      const { messageId } = await t.message();
      t.watch(callback => t.raw.MessageRepository.getMessage(messageId, callback));
    });
  },
  onFeedMarkerUpdated: async t => {
    await t.channel();
    await t.listen('onFeedMarkerUpdated', () => t.foreignMessage());
  },
  onSubChannelMarkerUpdated: async t => {
    const subChannelId = await t.subChannelId();
    await t.listen('onSubChannelMarkerUpdated', async () => {
      const { messageId } = await t.foreignMessage();
      const { messages } = await t.request('GET', `/api/v5/messages/${messageId}`);
      await t.request('PUT', `/api/v1/markers/message-feeds/${subChannelId}/mark-read`, { readToSegment: messages[0].segment });
    });
  },
  onMessageMarked: async t => {
    const { channelInternalId } = await t.channel();
    const subChannelId = await t.subChannelId();
    await t.subscribe(t.raw.getMarkedMessageTopic({ channelId: channelInternalId, subChannelId }));
    await t.listen('onMessageMarked', async () => {
      const { segment } = await message(t);
      await t.bob.request('PUT', `/api/v1/markers/message-feeds/${subChannelId}/mark-read`, { readToSegment: segment });
    });
  },
};
