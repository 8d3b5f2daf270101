// Users, follows and blocks.

const has = userId => ({ data }) => data.some(user => user.userId === userId);
const read = async (t, userId) => (await t.request('GET', `/api/v3/users/${userId}`)).users[0];

// watched subscribes to bob's user, whose changes the listeners hear.
async function watched(t) {
  const bob = await read(t, t.bob.id);
  await t.subscribe(t.raw.getUserTopic(bob));
  return bob;
}

const rename = (t, displayName) => t.bob.call('UserRepository.updateUser', t.bob.id, { displayName });

// unrelated ends what earlier checks left between the user and a peer.
async function unrelated(t, peer) {
  await t.raw.UserRepository.Relationship.unfollow(t[peer].id).catch(() => {});
  await t[peer].call('UserRepository.Relationship.unfollow', t.me).catch(() => {});
}

// byRequest makes the user's followers wait for acceptance while act runs.
async function byRequest(t, act) {
  await t.admin('PUT', '/api/v3/network-settings/social', { isFollowWithRequestEnabled: true });
  try {
    return await act();
  } finally {
    await t.admin('PUT', '/api/v3/network-settings/social', { isFollowWithRequestEnabled: false });
  }
}

async function followTopics(t) {
  await t.subscribe(t.raw.getMyFollowersTopic());
  await t.subscribe(t.raw.getMyFollowingsTopic());
}

const relation = path => `UserRepository.Relationship.${path}`;
const peerFollows = (t, peer = 'bob') => t[peer].call(relation('follow'), t.me);
const peerUnfollows = (t, peer = 'bob') => t[peer].call(relation('unfollow'), t.me);

// followEvent checks a listener of follows.
const followEvent = (name, act, request = false) => async t => {
  await followTopics(t);
  await unrelated(t, 'bob');
  const check = () => t.listen(relation(name), () => act(t), heard => [heard.from, heard.to, heard.userId].includes(t.bob.id));
  if (request) await byRequest(t, check);
  else await check();
  await unrelated(t, 'bob');
};

const follow = t => t.raw.UserRepository.Relationship.follow(t.bob.id);
const unfollow = t => t.raw.UserRepository.Relationship.unfollow(t.bob.id);

// decided checks a decision on bob's wish to follow the user.
async function decided(t, decide, followers) {
  await unrelated(t, 'bob');
  await byRequest(t, async () => {
    await peerFollows(t);
    t.equal(await decide(t.bob.id), true);
  });
  const { follows } = await t.request('GET', '/api/v4/me/followers?status=accepted');
  t.equal(follows.some(({ from }) => from === t.bob.id), followers);
  await unrelated(t, 'bob');
}

async function blocked(t, start) {
  await t.raw.UserRepository.Relationship.blockUser(t.carol.id);
  try {
    const live = t.watch(callback => start({}, callback));
    await live.until('carol', has(t.carol.id));
  } finally {
    await t.raw.UserRepository.Relationship.unBlockUser(t.carol.id);
  }
}

// followed follows a collection of follows, in which bob appears.
async function followed(t, start, act, undo, side) {
  await followTopics(t);
  await unrelated(t, 'bob');
  const live = t.watch(callback => start({ userId: t.me, status: 'accepted' }, callback));
  await live.until('an empty collection', ({ data }) => Array.isArray(data));
  await act(t);
  await live.until('bob', ({ data }) => data.some(status => status[side] === t.bob.id));
  await undo(t);
  await live.until('that bob is gone', ({ data }) => data.every(status => status[side] !== t.bob.id));
}

const userEvent = (name, act) => async t => {
  await watched(t);
  await t.listen(`UserRepository.${name}`, () => act(t), user => user.userId === t.bob.id);
};

async function viewers(t, query) {
  const post = await t.post();
  await t.bob.request('POST', '/api/v1/analytics/activities', {
    activities: [{ contentId: post.postId, contentType: 'post', activityType: 'view', timestamp: new Date().toISOString() }],
  });
  await query(post.postId);
}

module.exports = {
  'UserRepository.getUserByIds': async t => {
    const { data } = await t.sdk.UserRepository.getUserByIds([t.bob.id, t.carol.id]);
    t.same(data.map(({ userId }) => userId).sort(), [t.bob.id, t.carol.id]);
  },
  'UserRepository.updateUser': async t => {
    const { data } = await t.sdk.UserRepository.updateUser(t.me, { description: 'Climbs', metadata: { size: 7 } });
    t.equal(data.description, 'Climbs');
    t.equal((await read(t, t.me)).metadata.size, 7);
  },
  'UserRepository.flagUser': async t => {
    t.equal(await t.sdk.UserRepository.flagUser(t.bob.id), true);
    t.equal(await t.raw.UserRepository.isUserFlaggedByMe(t.bob.id), true);
    await t.raw.UserRepository.unflagUser(t.bob.id);
  },
  'UserRepository.unflagUser': async t => {
    await t.raw.UserRepository.flagUser(t.bob.id);
    t.equal(await t.sdk.UserRepository.unflagUser(t.bob.id), true);
    t.equal(await t.raw.UserRepository.isUserFlaggedByMe(t.bob.id), false);
  },
  'UserRepository.isUserFlaggedByMe': async t => {
    t.equal(await t.sdk.UserRepository.isUserFlaggedByMe(t.carol.id), false);
    await t.raw.UserRepository.flagUser(t.carol.id);
    t.equal(await t.sdk.UserRepository.isUserFlaggedByMe(t.carol.id), true);
    await t.raw.UserRepository.unflagUser(t.carol.id);
  },
  'UserRepository.getUser': async t => {
    await watched(t);
    const live = t.watch(callback => t.sdk.UserRepository.getUser(t.bob.id, callback));
    await live.until('bob', ({ data }) => data?.userId === t.bob.id);
    await rename(t, 'Robert');
    await live.until("bob's new name", ({ data }) => data.displayName === 'Robert');
    await rename(t, t.bob.id);
  },
  'UserRepository.observeUser': async t => {
    await watched(t);
    const live = t.watch(callback => t.sdk.UserRepository.observeUser(t.bob.id, callback));
    await live.until('bob', ({ data }) => data?.userId === t.bob.id);
    await rename(t, 'Bobby');
    await live.until("bob's new name", ({ data }) => data.displayName === 'Bobby');
    await rename(t, t.bob.id);
  },
  'UserRepository.getUsers': async t => {
    const live = t.watch(callback => t.sdk.UserRepository.getUsers({ sortBy: 'lastCreated', limit: 2 }, callback));
    await live.until('the users, and a next page', ({ data, hasNextPage }) => data.length === 2 && hasNextPage);
    live.last.onNextPage();
    await live.until('the next page', ({ data }) => data.length > 2);
  },
  'UserRepository.searchUserByDisplayName': async t => {
    const live = t.watch(callback => t.sdk.UserRepository.searchUserByDisplayName({ displayName: 'carol', limit: 10 }, callback));
    await live.until('carol', has(t.carol.id));
  },
  'UserRepository.getBlockedUsers': t => blocked(t, t.sdk.UserRepository.getBlockedUsers),
  'UserRepository.getAllBlockedUsers': async t => {
    await t.raw.UserRepository.Relationship.blockUser(t.carol.id);
    try {
      t.same((await t.sdk.UserRepository.getAllBlockedUsers()).map(({ userId }) => userId), [t.carol.id]);
    } finally {
      await t.raw.UserRepository.Relationship.unBlockUser(t.carol.id);
    }
  },
  'UserRepository.getViewedUsers': t => viewers(t, async viewId => {
    const live = t.watch(callback => t.sdk.UserRepository.getViewedUsers({ postId: viewId }, callback));
    await live.until('bob', ({ data }) => data.some(user => user.userId === t.bob.id));
  }),
  'UserRepository.getReachedUsers': t => viewers(t, async viewId => {
    const live = t.watch(callback => t.sdk.UserRepository.getReachedUsers({ viewId, viewedType: 'post' }, callback));
    await live.until('bob', ({ data }) => data.some(user => user.userId === t.bob.id));
  }),

  'UserRepository.onUserUpdated': async t => {
    await watched(t);
    await t.listen('UserRepository.onUserUpdated', () => rename(t, 'Bo'), user => user.displayName === 'Bo');
    await rename(t, t.bob.id);
  },
  'UserRepository.onUserDeleted': async t => {
    const erased = t.name('erased').replaceAll(' ', '-').slice(0, 50);
    const { users } = await signUp(t, erased);
    await t.subscribe(t.raw.getUserTopic(users[0]));
    await t.listen('UserRepository.onUserDeleted', () => t.admin('DELETE', `/api/v4/users/${erased}`), user => user.userId === erased || user.isDeleted);
  },
  // Plaza keeps reporters anonymous: only the reporter hears of a flag, on every device.
  'UserRepository.onUserFlagged': userEvent('onUserFlagged', t => t.request('POST', `/api/v4/me/flags/${t.bob.id}`)),
  'UserRepository.onUserUnflagged': userEvent('onUserUnflagged', async t => {
    await t.request('POST', `/api/v4/me/flags/${t.bob.id}`);
    await t.request('DELETE', `/api/v4/me/flags/${t.bob.id}`);
  }),
  'UserRepository.onUserFlagCleared': userEvent('onUserFlagCleared', async t => {
    await t.request('POST', `/api/v4/me/flags/${t.bob.id}`);
    await t.admin('DELETE', `/api/v2/users/${t.bob.id}/flags`);
  }),

  'UserRepository.Relationship.blockUser': async t => {
    const { follows } = await t.sdk.UserRepository.Relationship.blockUser(t.carol.id);
    t.equal(follows[0].status, 'blocked');
    await t.raw.UserRepository.Relationship.unBlockUser(t.carol.id);
  },
  'UserRepository.Relationship.unBlockUser': async t => {
    await t.raw.UserRepository.Relationship.blockUser(t.carol.id);
    const { follows } = await t.sdk.UserRepository.Relationship.unBlockUser(t.carol.id);
    t.equal(follows[0].status, 'none');
    t.equal((await t.request('GET', '/api/v4/me/user-blocks')).follows.length, 0);
  },
  'UserRepository.Relationship.getBlockedUsers': t => blocked(t, t.sdk.UserRepository.Relationship.getBlockedUsers),
  'UserRepository.Relationship.follow': async t => {
    const { data } = await t.sdk.UserRepository.Relationship.follow(t.bob.id);
    t.equal(data.status, 'accepted');
    t.equal(data.to, t.bob.id);
    await unrelated(t, 'bob');
  },
  'UserRepository.Relationship.unfollow': async t => {
    await follow(t);
    t.equal(await t.sdk.UserRepository.Relationship.unfollow(t.bob.id), true);
    t.equal((await t.request('GET', '/api/v4/me/following')).follows.length, 0);
  },
  'UserRepository.Relationship.acceptFollower': t => decided(t, t.sdk.UserRepository.Relationship.acceptFollower, true),
  'UserRepository.Relationship.acceptMyFollower': t => decided(t, t.sdk.UserRepository.Relationship.acceptMyFollower, true),
  'UserRepository.Relationship.declineFollower': t => decided(t, t.sdk.UserRepository.Relationship.declineFollower, false),
  'UserRepository.Relationship.declineMyFollower': t => decided(t, t.sdk.UserRepository.Relationship.declineMyFollower, false),
  'UserRepository.Relationship.getFollowers': t => followed(t, t.sdk.UserRepository.Relationship.getFollowers, () => peerFollows(t), () => peerUnfollows(t), 'from'),
  'UserRepository.Relationship.getFollowings': t => followed(t, t.sdk.UserRepository.Relationship.getFollowings, follow, unfollow, 'to'),
  'UserRepository.Relationship.observeFollowers': async t => {
    await followTopics(t);
    await unrelated(t, 'bob');
    const live = t.watch(callback => t.sdk.UserRepository.Relationship.observeFollowers(t.me, callback));
    await peerFollows(t);
    await live.heard('bob', (action, status) => JSON.stringify([action, status]).includes(t.bob.id));
    await unrelated(t, 'bob');
  },
  'UserRepository.Relationship.observeFollowings': async t => {
    await followTopics(t);
    await unrelated(t, 'bob');
    const live = t.watch(callback => t.sdk.UserRepository.Relationship.observeFollowings(t.me, callback));
    await follow(t);
    await live.heard('bob', (action, status) => JSON.stringify([action, status]).includes(t.bob.id));
    await unrelated(t, 'bob');
  },
  'UserRepository.Relationship.getFollowInfo': t => counted(t, callback => t.sdk.UserRepository.Relationship.getFollowInfo(t.me, callback)),
  'UserRepository.Relationship.getMyFollowInfo': t => counted(t, callback => t.sdk.UserRepository.Relationship.getMyFollowInfo(callback)),
  'UserRepository.Relationship.observeFollowInfo': t => counted(t, callback => t.sdk.UserRepository.Relationship.observeFollowInfo(t.me, callback)),

  'UserRepository.Relationship.onUserFollowed': followEvent('onUserFollowed', t => peerFollows(t)),
  'UserRepository.Relationship.onUserUnfollowed': followEvent('onUserUnfollowed', async t => {
    await peerFollows(t);
    await peerUnfollows(t);
  }),
  'UserRepository.Relationship.onFollowerRequested': followEvent('onFollowerRequested', t => peerFollows(t), true),
  'UserRepository.Relationship.onFollowRequestCanceled': followEvent('onFollowRequestCanceled', async t => {
    await peerFollows(t);
    await peerUnfollows(t);
  }, true),
  'UserRepository.Relationship.onFollowRequestAccepted': followEvent('onFollowRequestAccepted', async t => {
    await follow(t);
    await t.bob.request('POST', `/api/v4/me/followers/${t.me}`);
  }, true),
  'UserRepository.Relationship.onFollowRequestDeclined': followEvent('onFollowRequestDeclined', async t => {
    await follow(t);
    await t.bob.request('DELETE', `/api/v4/me/followers/${t.me}`);
  }, true),
  'UserRepository.Relationship.onFollowerDeleted': followEvent('onFollowerDeleted', async t => {
    await follow(t);
    await t.bob.request('DELETE', `/api/v4/me/followers/${t.me}`);
  }),
  'UserRepository.Relationship.onFollowInfoUpdated': async t => {
    await followTopics(t);
    await unrelated(t, 'bob');
    await t.listen(relation('onFollowInfoUpdated'), () => follow(t), info => info.userId !== undefined);
    await unrelated(t, 'bob');
  },
  'UserRepository.Relationship.onLocalUserFollowed': followEvent('onLocalUserFollowed', follow),
  'UserRepository.Relationship.onLocalUserUnfollowed': followEvent('onLocalUserUnfollowed', async t => {
    await follow(t);
    await unfollow(t);
  }),
  'UserRepository.Relationship.onLocalFollowerRequested': followEvent('onLocalFollowerRequested', follow, true),
  'UserRepository.Relationship.onLocalFollowRequestAccepted': followEvent('onLocalFollowRequestAccepted', async t => {
    await peerFollows(t);
    await t.raw.UserRepository.Relationship.acceptMyFollower(t.bob.id);
  }, true),
  'UserRepository.Relationship.onLocalFollowRequestDeclined': followEvent('onLocalFollowRequestDeclined', async t => {
    await peerFollows(t);
    await t.raw.UserRepository.Relationship.declineMyFollower(t.bob.id);
  }, true),
};

// counted follows the number of the user's followers.
async function counted(t, start) {
  await followTopics(t);
  await unrelated(t, 'bob');
  await t.raw.wipeCache();
  const live = t.watch(start);
  await live.until('no follower', ({ data }) => data?.followerCount === 0);
  await peerFollows(t);
  await live.until('one follower', ({ data }) => data.followerCount === 1);
  await unrelated(t, 'bob');
}

// signUp creates a user by signing in.
async function signUp(t, userId) {
  const response = await fetch(`${t.world.base}/api/v5/sessions`, {
    method: 'POST', headers: { 'x-api-key': t.world.facts.apiKey, 'content-type': 'application/json' }, body: JSON.stringify({ userId, deviceId: userId }),
  });
  return response.json();
}
