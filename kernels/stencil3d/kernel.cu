// One step of a 7-point stencil, after Parboil's naive version: a CTA is a whole line along x, one thread per
// cell from 0 to nx - 2, the first of which is idle; CTA (y, z) computes line (y + 1, z + 1). Five lines are
// read per line written: the neighbours above and below are shared with CTAs (y +- 1, z), those in front and
// behind with (y, z +- 1).
#define AT(x, y, z) ((x) + nx * ((y) + ny * (z)))

extern "C" __global__ void stencil3d(float c0, float c1, const float *from, float *to, int nx, int ny,
                                     int nz) {
  int x = threadIdx.x, y = blockIdx.x + 1, z = blockIdx.y + 1;
  if (x > 0)
    to[AT(x, y, z)] = (from[AT(x, y, z + 1)] + from[AT(x, y, z - 1)] + from[AT(x, y + 1, z)] +
                       from[AT(x, y - 1, z)] + from[AT(x + 1, y, z)] + from[AT(x - 1, y, z)]) *
                          c1 -
                      from[AT(x, y, z)] * c0;
}
