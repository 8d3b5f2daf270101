// The tray tells the user of bob's acts.

// told lets bob comment on a post of the user, and waits for the item.
async function told(t, sdk = t.raw) {
  await t.foreignComment();
  await t.eventually('an item of the server', () => t.request('GET', '/api/v1/notification-tray'), body => body.notificationTrayItems.length > 0);
  const live = t.watch(callback => sdk.notificationTray.getNotificationTrayItems({ limit: 10 }, callback));
  await live.until('an item', ({ data }) => data.length > 0);
  return live;
}

module.exports = {
  'notificationTray.getNotificationTraySeen': async t => {
    const live = t.watch(callback => t.sdk.notificationTray.getNotificationTraySeen(callback));
    await live.until('an answer', ({ data }) => data && 'lastTraySeenAt' in data);
  },
  'notificationTray.getNotificationTrayItems': async t => {
    const live = await told(t, t.sdk);
    t.ok(JSON.stringify(live.last.data).includes('bob'));
  },
  'notificationTray.markItemsSeen': async t => {
    const live = await told(t);
    const { _id: id } = live.last.data[0];
    await t.sdk.notificationTray.markItemsSeen([{ id, lastSeenAt: new Date().toISOString() }]);
    const { notificationTrayItems } = await t.request('GET', '/api/v1/notification-tray');
    t.ok(notificationTrayItems.find(item => item._id === id).lastSeenAt);
  },
  'notificationTray.markTraySeen': async t => {
    const { data } = await t.sdk.notificationTray.markTraySeen(new Date().toISOString());
    t.ok(data.lastSeenAt);
  },
  'notificationTray.onNotificationTraySeenUpdated': async t => {
    await t.listen('notificationTray.onNotificationTraySeenUpdated', () => t.raw.notificationTray.markTraySeen(new Date().toISOString()));
  },
};
