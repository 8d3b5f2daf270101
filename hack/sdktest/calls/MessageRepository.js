// Messages of a channel. Their events reach members of the channel without a subscription.

const bob = (t, path, ...args) => t.bob.call(`MessageRepository.${path}`, ...args);
const read = async (t, messageId) => (await t.request('GET', `/api/v5/messages/${messageId}`)).messages[0];
const has = messageId => ({ data }) => data.some(message => message.messageId === messageId);

const event = (name, act, condition = () => true) => async t => {
  const message = await t.foreignMessage();
  await t.listen(`MessageRepository.${name}`, () => act(t, message), heard => heard.messageId === message.messageId && condition(heard));
};

async function edit(t, change) {
  const { messageId } = await t.message();
  const { data } = await change(messageId, { data: { text: 'Changed' }, tags: ['late'] });
  t.equal(data.data.text, 'Changed');
  t.same((await read(t, messageId)).tags, ['late']);
}

async function remove(t, path) {
  const { messageId } = await t.message();
  const message = await path(messageId);
  t.equal(message.messageId, messageId);
  t.equal(message.isDeleted, true);
}

async function seen(t, start) {
  const message = await t.foreignMessage();
  const live = t.watch(callback => start(message.messageId, callback));
  await live.until('the message', ({ data }) => data?.data.text === message.data.text);
  await bob(t, 'updateMessage', message.messageId, { data: { text: 'Changed by bob' } });
  await live.until("bob's change", ({ data }) => data.data.text === 'Changed by bob');
  return { message, live };
}

// receipt checks the users that have read or received a message.
async function receipt(t, query, mark) {
  const { messageId, subChannelId } = await t.message();
  await mark(messageId, subChannelId);
  const { data } = await query({ messageId, memberships: ['member'] });
  t.ok(data.some(({ userId }) => userId === t.bob.id), `bob is not in ${JSON.stringify(data)}`);
}

module.exports = {
  'MessageRepository.createMessage': async t => {
    const { data } = await t.sdk.MessageRepository.createMessage({ subChannelId: await t.subChannelId(), dataType: 'text', data: { text: 'Hello' }, tags: ['a'], metadata: { size: 7 } });
    t.equal(data.data.text, 'Hello');
    t.equal(data.metadata.size, 7);
    t.same(data.tags, ['a']);
    t.equal(data.creatorId, t.me);
    const { data: reply } = await t.sdk.MessageRepository.createMessage({ subChannelId: await t.subChannelId(), dataType: 'text', data: { text: 'Reply' }, parentId: data.messageId });
    t.equal(reply.parentId, data.messageId);
    t.equal((await read(t, data.messageId)).childCount, 1);
  },
  'MessageRepository.updateMessage': t => edit(t, t.sdk.MessageRepository.updateMessage),
  'MessageRepository.editMessage': t => edit(t, t.sdk.MessageRepository.editMessage),
  'MessageRepository.deleteMessage': t => remove(t, t.sdk.MessageRepository.deleteMessage),
  'MessageRepository.softDeleteMessage': t => remove(t, t.sdk.MessageRepository.softDeleteMessage),
  'MessageRepository.getMessageByIds': async t => {
    const ids = [(await t.message()).messageId, (await t.foreignMessage()).messageId];
    const { data } = await t.sdk.MessageRepository.getMessageByIds(ids);
    t.same(data.map(({ messageId }) => messageId).sort(), ids.sort());
  },
  'MessageRepository.markAsDelivered': async t => {
    const { messageId, subChannelId } = await t.foreignMessage();
    t.equal(await t.sdk.MessageRepository.markAsDelivered(subChannelId, messageId), true);
    const { publicUserIds } = await t.bob.request('GET', `/api/v1/markers/messages/${messageId}/delivered-users?memberships[]=member`);
    t.ok(publicUserIds.includes(t.me));
  },
  'MessageRepository.getReadUsers': t => receipt(t, t.sdk.MessageRepository.getReadUsers, async (messageId, subChannelId) => {
    const { segment } = await read(t, messageId);
    await t.bob.request('PUT', `/api/v1/markers/message-feeds/${subChannelId}/mark-read`, { readToSegment: segment });
  }),
  'MessageRepository.getDeliveredUsers': t => receipt(t, t.sdk.MessageRepository.getDeliveredUsers,
    (messageId, subChannelId) => bob(t, 'markAsDelivered', subChannelId, messageId)),
  'MessageRepository.flagMessage': async t => {
    const { messageId } = await t.foreignMessage();
    t.equal(await t.sdk.MessageRepository.flagMessage(messageId), true);
    t.equal((await read(t, messageId)).flagCount, 1);
  },
  'MessageRepository.unflagMessage': async t => {
    const { messageId } = await t.foreignMessage();
    await t.raw.MessageRepository.flagMessage(messageId);
    t.equal(await t.sdk.MessageRepository.unflagMessage(messageId), true);
    t.equal((await read(t, messageId)).flagCount, 0);
  },
  'MessageRepository.isMessageFlaggedByMe': async t => {
    const { messageId } = await t.foreignMessage();
    t.equal(await t.sdk.MessageRepository.isMessageFlaggedByMe(messageId), false);
    await t.raw.MessageRepository.flagMessage(messageId);
    t.equal(await t.sdk.MessageRepository.isMessageFlaggedByMe(messageId), true);
  },

  'MessageRepository.getMessage': async t => {
    const { message, live } = await seen(t, t.sdk.MessageRepository.getMessage);
    await t.carol.call('ReactionRepository.addReaction', 'message', message.messageId, 'like');
    await live.until("carol's reaction", ({ data }) => data.reactionsCount === 1);
    await bob(t, 'deleteMessage', message.messageId);
    await live.until('the deletion', ({ data }) => data.isDeleted);
  },
  'MessageRepository.observeMessage': t => seen(t, t.sdk.MessageRepository.observeMessage),
  'MessageRepository.observeMessages': async t => {
    const subChannelId = await t.subChannelId();
    const live = t.watch(callback => t.sdk.MessageRepository.observeMessages(subChannelId, callback));
    const { messageId } = await t.foreignMessage();
    await live.heard("bob's message", ({ data }) => data.messageId === messageId);
  },
  'MessageRepository.getMessages': async t => {
    const subChannelId = await t.subChannelId();
    const last = t.watch(callback => t.raw.MessageRepository.onMessageCreatedMqtt(callback));
    const old = [];
    for (let i = 0; i < 5; i++) old.push((await t.foreignMessage()).messageId);
    await last.heard('the last of the old messages', message => message.messageId === old[4]);
    const live = t.watch(callback => t.sdk.MessageRepository.getMessages({ subChannelId, sortBy: 'segmentDesc', limit: 3 }, callback));
    await live.until('the messages, and a next page', ({ data, hasNextPage }) => data.length === 3 && hasNextPage);
    const { messageId } = await t.foreignMessage();
    await live.until("bob's message", has(messageId));
    live.last.onNextPage();
    await live.until('the next page', has(old[0]));
    await bob(t, 'deleteMessage', messageId);
    await live.until('the deletion', ({ data }) => data.every(message => message.messageId !== messageId || message.isDeleted));
  },
  'MessageRepository.convertFromRaw': async t => {
    const message = await read(t, (await t.foreignMessage()).messageId);
    const converted = t.sdk.MessageRepository.convertFromRaw(message);
    t.equal(converted.messageId, message.messageId);
    t.equal(converted.subChannelId, message.messageFeedId);
    t.equal(converted.channelId, message.channelPublicId);
  },
  'MessageRepository.prepareMessagePayload': async t => {
    const { messageId } = await t.foreignMessage();
    const payload = await t.request('GET', `/api/v5/messages/${messageId}`);
    const { messages } = await t.sdk.MessageRepository.prepareMessagePayload(payload);
    t.equal(messages[0].messageId, messageId);
    t.equal(messages[0].subChannelId, payload.messages[0].messageFeedId);
  },
  'MessageRepository.convertParams': async t => {
    t.equal(t.sdk.MessageRepository.convertParams({ subChannelId: 'a', dataType: 'text' }).messageFeedId, 'a');
  },
  'MessageRepository.convertQueryParams': async t => {
    const query = t.sdk.MessageRepository.convertQueryParams({ subChannelId: 'a', sortBy: 'segmentDesc', limit: 3 });
    t.equal(query.messageFeedId, 'a');
    t.equal(query.options.sortBy, 'segmentDesc');
    t.equal(query.options.limit, 3);
  },
  'MessageRepository.getMessageIdentifierIds': async t => {
    const messages = (await t.request('GET', `/api/v5/messages/${(await t.message()).messageId}`)).messages;
    t.equal(t.sdk.MessageRepository.getMessageIdentifierIds(messages).length, 1);
  },

  'MessageRepository.onMessageCreatedMqtt': async t => {
    await t.channel();
    const text = t.name('New');
    await t.listen('MessageRepository.onMessageCreatedMqtt', () => t.foreignMessage({ data: { text } }), message => message.data.text === text);
  },
  'MessageRepository.onMessageCreatedLocal': async t => {
    const text = t.name('New');
    await t.listen('MessageRepository.onMessageCreatedLocal', () => t.message({ data: { text } }), message => message.data.text === text);
  },
  'MessageRepository.onMessageUpdated': event('onMessageUpdated', (t, { messageId }) => bob(t, 'updateMessage', messageId, { data: { text: 'Edited' } }), message => message.data.text === 'Edited'),
  'MessageRepository.onMessageDeleted': event('onMessageDeleted', (t, { messageId }) => bob(t, 'deleteMessage', messageId), message => message.isDeleted),
  // Plaza keeps reporters anonymous: only the reporter hears of a flag, on every device.
  'MessageRepository.onMessageFlagged': event('onMessageFlagged', (t, { messageId }) => t.request('POST', `/api/v5/messages/${messageId}/flags`)),
  'MessageRepository.onMessageUnflagged': event('onMessageUnflagged', async (t, { messageId }) => {
    await t.request('POST', `/api/v5/messages/${messageId}/flags`);
    await t.request('DELETE', `/api/v5/messages/${messageId}/flags`);
  }),
  'MessageRepository.onMessageFlagCleared': event('onMessageFlagCleared', async (t, { messageId }) => {
    await t.request('POST', `/api/v5/messages/${messageId}/flags`);
    await t.request('DELETE', `/api/v5/messages/${messageId}/flags/all`);
  }),
  'MessageRepository.onMessageReactionAdded': event('onMessageReactionAdded', (t, { messageId }) => t.carol.call('ReactionRepository.addReaction', 'message', messageId, 'love'), message => message.reactionsCount === 1),
  'MessageRepository.onMessageReactionRemoved': event('onMessageReactionRemoved', async (t, { messageId }) => {
    await t.carol.call('ReactionRepository.addReaction', 'message', messageId, 'love');
    await t.carol.call('ReactionRepository.removeReaction', 'message', messageId, 'love');
  }, message => message.reactionsCount === 0),
  'MessageRepository.onMessageFetched': event('onMessageFetched', (t, { messageId }) => {
    t.watch(callback => t.raw.MessageRepository.getMessage(messageId, callback));
  }),
};
