// Signing in and out, settings, and the synchronisation of unread counts.

const { createClient, handler } = require('../lib/user.js');

// signIn signs the user in again after a check that ended the session.
async function signIn(t) {
  createClient(t.raw, t.world.facts, t.world.region);
  await t.raw.Client.login({ userId: t.me, displayName: t.me }, handler);
}

// ended checks a function that ends the session.
async function ended(t, end) {
  t.equal(await end(), true);
  t.equal(t.raw.Client.getActiveClient().sessionState, 'notLoggedIn');
  await signIn(t);
}

// restarted stops what startUnreadSync started.
const unread = (t, run) => Promise.resolve(run()).finally(() => t.raw.Client.stopUnreadSync());

// counted follows the number of unread messages, which grows when bob writes.
async function counted(t, start) {
  const channel = await t.channel();
  await t.raw.Client.startUnreadSync();
  try {
    t.watch(callback => t.raw.ChannelRepository.getChannels({ membership: 'member' }, callback));
    const live = t.watch(start);
    const count = ({ data }) => data?.unreadCount ?? data;
    await t.foreignMessage({ subChannelId: channel.defaultSubChannelId });
    await live.until('an unread message', snapshot => count(snapshot) >= 1);
  } finally {
    await t.raw.Client.stopUnreadSync();
  }
}

// other signs up a user over HTTP, and returns the response.
async function other(t, userId) {
  const response = await fetch(`${t.world.base}/api/v5/sessions`, {
    method: 'POST', headers: { 'x-api-key': t.world.facts.apiKey, 'content-type': 'application/json' },
    body: JSON.stringify({ userId, deviceId: `device of ${userId}` }),
  });
  return response.json();
}

// disconnected closes the connection for realtime events from outside, as a network failure does.
async function disconnected(t, path) {
  const watch = t.watch(callback => path(callback));
  t.raw.Client.getActiveClient().emitter.emit('disconnected', undefined);
  await watch.wait('the listener', () => (watch.told.length > 0 ? { found: true } : undefined));
}

// banned lets the administrator ban the user, and waits until the listener hears of it.
async function banned(t) {
  const { _id: internalId, path } = t.raw.Client.getActiveUser();
  await new Promise((done, fail) => t.raw.subscribeTopic(path, error => (error ? fail(error) : done()))); // connected again
  const watch = t.watch(callback => t.sdk.Client.onClientBanned(callback));
  await t.admin('POST', '/api/v2/users/ban', { userId: t.me });
  try {
    await watch.heard('the ban', ({ users }) => users[0]._id === internalId);
  } finally {
    await t.admin('POST', '/api/v2/users/unban', { userId: t.me });
    await signIn(t);
  }
}

module.exports = {
  'Client.createClient': async t => {
    const client = t.sdk.Client.createClient(t.world.facts.apiKey, t.world.region);
    t.equal(client, t.raw.Client.getActiveClient());
  },
  'Client.login': async t => {
    await t.raw.Client.logout();
    createClient(t.raw, t.world.facts, t.world.region);
    t.equal(await t.sdk.Client.login({ userId: t.me }, handler), true);
    t.equal(t.raw.Client.getActiveClient().sessionState, 'established');
    t.equal((await t.request('GET', `/api/v3/users/${t.me}`)).users[0].userId, t.me);
  },
  'Client.getActiveClient': async t => {
    const client = t.sdk.Client.getActiveClient();
    t.equal(client.userId, t.me);
    t.equal(client.sessionState, 'established');
  },
  'Client.getActiveUser': async t => {
    const user = t.sdk.Client.getActiveUser();
    t.equal(user.userId, t.me);
    t.match(user.path, new RegExp(`/user/${user._id}$`));
  },
  'Client.setActiveUser': async t => {
    const user = t.raw.Client.getActiveUser();
    t.sdk.Client.setActiveUser(user);
    t.equal(t.raw.Client.getActiveUser().userId, t.me);
  },
  'Client.getCurrentUser': async t => {
    t.equal(t.sdk.Client.getCurrentUser().userId, t.me);
  },
  'Client.getCurrentUserType': async t => {
    t.equal(t.sdk.Client.getCurrentUserType(), 'signed-in');
  },
  'Client.setCurrentUserType': async t => {
    t.sdk.Client.setCurrentUserType('visitor');
    t.equal(t.raw.Client.getCurrentUserType(), 'visitor');
    t.raw.Client.setCurrentUserType('signed-in');
  },
  'Client.isConnected': async t => {
    t.equal(t.sdk.Client.isConnected(), true);
  },
  'Client.renewal': async t => {
    const before = t.raw.Client.getActiveClient().token.accessToken;
    t.sdk.Client.renewal().renew();
    for (let i = 0; i < 100 && t.raw.Client.getActiveClient().token.accessToken === before; i++) await new Promise(done => setTimeout(done, 50));
    t.ok(t.raw.Client.getActiveClient().token.accessToken !== before);
    await t.request('GET', `/api/v3/users/${t.me}`);
  },
  'Client.loginWithAccessToken': async t => {
    const { accessToken } = await other(t, t.me);
    t.equal(await t.sdk.Client.loginWithAccessToken(accessToken), true);
    t.equal(t.raw.Client.getActiveClient().userId, t.me);
  },
  'Client.setAccessTokenHandler': async t => {
    const tokens = { onTokenRenew: async () => (await other(t, t.me)).accessToken };
    t.sdk.Client.setAccessTokenHandler(tokens);
    t.equal(t.raw.Client.getActiveClient().accessTokenHandler, tokens);
  },
  'Client.resumeSession': async t => {
    const { accessToken, issuedAt, expiresAt } = await other(t, t.me);
    t.equal(await t.sdk.Client.resumeSession({ userId: t.me, token: { accessToken, issuedAt, expiresAt } }, handler), true);
    await signIn(t);
  },
  'Client.loginAsVisitor': async t => {
    try {
      t.equal(await t.sdk.Client.loginAsVisitor({ sessionHandler: handler }), true);
      t.equal(t.raw.Client.getCurrentUserType(), 'visitor');
      await t.request('GET', '/api/v3/communities');
    } finally {
      await signIn(t);
    }
  },
  'Client.loginAsBot': async t => {
    try {
      t.equal(await t.sdk.Client.loginAsBot({ sessionHandler: handler }), true);
      t.equal(t.raw.Client.getCurrentUserType(), 'bot');
    } finally {
      await signIn(t);
    }
  },
  'Client.logout': t => ended(t, t.sdk.Client.logout),
  'Client.secureLogout': async t => {
    const { accessToken } = t.raw.Client.getActiveClient().token;
    await ended(t, t.sdk.Client.secureLogout);
    await t.rejects(t.world.request(accessToken, 'GET', `/api/v3/users/${t.me}`));
  },

  'Client.getFeedSettings': async t => {
    const settings = await t.sdk.Client.getFeedSettings();
    t.ok(Object.values(settings).every(content => Array.isArray(content)) && Object.keys(settings).length > 0);
  },
  'Client.getSocialSettings': async t => {
    const settings = await t.sdk.Client.getSocialSettings();
    t.equal(typeof settings.enabled, 'boolean');
    t.ok(['public', 'private'].includes(settings.userPrivacySetting));
  },
  'Client.getShareableLinkConfiguration': async t => {
    t.ok('domain' in await t.sdk.Client.getShareableLinkConfiguration());
  },
  'Client.getProductCatalogueSetting': async t => {
    t.equal(typeof (await t.sdk.Client.getProductCatalogueSetting()).product.enabled, 'boolean');
  },
  'Client.fetchLinkPreview': async t => {
    t.ok('title' in await t.sdk.Client.fetchLinkPreview(`${t.world.base}/docs`));
  },
  'Client.getLinkPreviewMetadata': async t => {
    t.ok('title' in await t.sdk.Client.getLinkPreviewMetadata(`${t.world.base}/docs`));
  },
  'Client.registerPushNotification': async t => {
    t.equal(await t.sdk.Client.registerPushNotification('a'.repeat(64)), true);
  },
  'Client.unregisterPushNotification': async t => {
    await t.raw.Client.registerPushNotification('a'.repeat(64));
    t.equal(await t.sdk.Client.unregisterPushNotification(), true);
  },
  'Client.setUploadedFileAccessType': async t => {
    t.sdk.Client.setUploadedFileAccessType(t.raw.FileAccessTypeEnum.NETWORK);
    const { data } = await t.raw.FileRepository.uploadImage(t.imageForm());
    t.raw.Client.setUploadedFileAccessType(t.raw.FileAccessTypeEnum.PUBLIC);
    t.equal(data[0].accessType, 'network');
  },

  'Client.markerSync': async t => {
    const { data, hasMore } = await t.sdk.Client.markerSync(new Date(Date.now() - 60_000).toISOString());
    t.ok(Array.isArray(data.userMarkers));
    t.equal(hasMore, data.feedMarkers.length > 0);
  },
  'Client.enableUnreadCount': async t => {
    t.equal(typeof t.sdk.Client.enableUnreadCount(), 'boolean');
    if (t.version === '6') t.equal(t.raw.Client.getActiveClient().isUnreadCountEnabled, true);
  },
  'Client.getMarkerSyncEvents': async t => {
    t.raw.Client.setMarkerSyncEvents(['a']);
    t.same(t.sdk.Client.getMarkerSyncEvents(), ['a']);
    t.raw.Client.setMarkerSyncEvents([]);
  },
  'Client.setMarkerSyncEvents': async t => {
    t.sdk.Client.setMarkerSyncEvents(['a', 'b']);
    t.equal(t.raw.Client.getMarkerSyncEvents().length, 2);
    t.raw.Client.setMarkerSyncEvents([]);
  },
  'Client.pushMarkerSyncEvent': async t => {
    t.raw.Client.setMarkerSyncEvents([]);
    t.sdk.Client.pushMarkerSyncEvent('start syncing');
    t.same(t.raw.Client.getMarkerSyncEvents(), ['start syncing']);
    t.raw.Client.setMarkerSyncEvents([]);
  },
  'Client.markerSyncTrigger': t => unread(t, async () => {
    await t.raw.Client.startUnreadSync();
    t.raw.Client.pushMarkerSyncEvent('start syncing');
    await t.sdk.Client.markerSyncTrigger();
    t.ok(!t.raw.Client.getMarkerSyncEvents().includes('start syncing'));
  }),
  'Client.startMarkerSync': t => unread(t, () => t.sdk.Client.startMarkerSync()),
  'Client.startUnreadSync': t => unread(t, async () => {
    await t.sdk.Client.startUnreadSync();
    t.ok(t.raw.Client.getMarkerSyncEvents() !== undefined);
  }),
  'Client.stopUnreadSync': async t => {
    await t.raw.Client.startUnreadSync();
    t.sdk.Client.stopUnreadSync();
    t.same(t.raw.Client.getMarkerSyncEvents(), []);
  },
  'Client.stopUnreadSyncing': async t => {
    await t.raw.Client.startUnreadSync();
    t.sdk.Client.stopUnreadSyncing();
    t.same(t.raw.Client.getMarkerSyncEvents(), []);
  },
  'Client.getMarkerSyncConsistentMode': async t => {
    t.equal(typeof t.sdk.Client.getMarkerSyncConsistentMode(), 'boolean');
  },
  'Client.getTotalUnreadCount': t => counted(t, callback => t.sdk.Client.getTotalUnreadCount(callback)),
  'Client.getUserUnread': t => counted(t, callback => t.sdk.Client.getUserUnread(callback)),

  'Client.onConnectionError': t => disconnected(t, t.sdk.Client.onConnectionError),
  'Client.onClientDisconnected': async t => {
    const watch = t.watch(callback => t.sdk.Client.onClientDisconnected(() => callback('disconnected')));
    t.raw.Client.getActiveClient().emitter.emit('disconnected', { code: 800211, message: 'disconnected' });
    await watch.heard('the listener');
  },
  'Client.onClientBanned': banned,
  'Client.onRTEConnectionStateChange': async t => {
    const watch = t.watch(callback => t.sdk.Client.onRTEConnectionStateChange(callback));
    await watch.heard('the state', state => typeof state === 'string');
  },
  'Client.onSessionStateChange': async t => {
    const watch = t.watch(callback => t.sdk.Client.onSessionStateChange(callback));
    await t.raw.Client.logout();
    await signIn(t);
    await watch.heard('the sign-in', state => state === 'established');
  },
  'Client.onNetworkActivities': async t => {
    const watch = t.watch(callback => t.sdk.Client.onNetworkActivities(callback));
    await t.raw.CommunityRepository.createCommunity({ displayName: t.name('Seen'), isPublic: true });
    await watch.heard('the request', (request, response) => request.url.includes('/api/v3/communities') && response.status === 200);
  },
};
