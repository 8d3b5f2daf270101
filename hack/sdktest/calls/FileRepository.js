// Files of every type.

const image = async t => (await t.raw.FileRepository.uploadImage(t.imageForm())).data[0];
const text = t => t.form('files', 'A list of ropes', 'ropes.txt', 'text/plain');
const video = t => t.form('files', t.video, 'climb.mp4', 'video/mp4');

async function upload(t, path, form, type, ...rest) {
  const { data } = await path(form, ...rest);
  t.equal(data.length, 1);
  t.equal(data[0].type, type);
  t.ok(data[0].fileUrl.startsWith('http'));
  t.ok(data[0].attributes.size > 0);
  t.equal((await t.request('GET', `/api/v3/files/${data[0].fileId}`)).fileId, data[0].fileId);
}

module.exports = {
  'FileRepository.uploadImage': async t => {
    const { data } = await t.sdk.FileRepository.uploadImage(t.imageForm());
    t.equal(data[0].type, 'image');
    t.equal(data[0].attributes.metadata.width, 8);
    t.equal(data[0].attributes.metadata.height, 6);
    const response = await fetch(`${data[0].fileUrl}?size=small`);
    t.equal(response.status, 200);
    t.match(response.headers.get('content-type'), /^image\//);
  },
  'FileRepository.uploadFile': t => upload(t, t.sdk.FileRepository.uploadFile, text(t), 'file'),
  'FileRepository.uploadVideo': t => upload(t, t.sdk.FileRepository.uploadVideo, video(t), 'video', t.raw.ContentFeedType.POST),
  'FileRepository.uploadClip': t => upload(t, t.sdk.FileRepository.uploadClip, video(t), 'clip', t.raw.ContentFeedType.CLIP),
  'FileRepository.uploadAudio': t => upload(t, t.sdk.FileRepository.uploadAudio, t.form('file', t.sound, 'wind.mp3', 'audio/mpeg'), 'audio'),
  'FileRepository.createImage': t => upload(t, t.sdk.FileRepository.createImage, t.imageForm(), 'image'),
  'FileRepository.createFile': t => upload(t, t.sdk.FileRepository.createFile, text(t), 'file'),
  'FileRepository.createVideo': t => upload(t, t.sdk.FileRepository.createVideo, video(t), 'video'),
  'FileRepository.getFile': async t => {
    const { fileId } = await image(t);
    const { data } = await t.sdk.FileRepository.getFile(fileId);
    t.equal(data.fileId, fileId);
  },
  'FileRepository.deleteFile': async t => {
    const { fileId } = await image(t);
    t.equal((await t.sdk.FileRepository.deleteFile(fileId)).success, true);
    await t.rejects(t.request('GET', `/api/v3/files/${fileId}`));
  },
  'FileRepository.updateAltText': async t => {
    const { fileId } = await image(t);
    await t.sdk.FileRepository.updateAltText(fileId, 'A rope');
    t.equal((await t.request('GET', `/api/v3/files/${fileId}`)).altText, 'A rope');
  },
  'FileRepository.fileUrlWithSize': async t => {
    t.equal(t.sdk.FileRepository.fileUrlWithSize('http://files.example/a', 'small'), 'http://files.example/a?size=small');
  },
  'FileRepository.observeFile': async t => {
    const { fileId } = await image(t);
    const live = t.watch(callback => t.sdk.FileRepository.observeFile(fileId, callback));
    await live.until('the file', ({ data }) => data?.fileId === fileId);
  },
};
