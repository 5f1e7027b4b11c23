// One time step of the Euler equations on an unstructured mesh of tetrahedra: finite volumes with four
// neighbours per element and a Runge-Kutta scheme of three stages. One thread per element, 192 per CTA.
// Variable v of element i is variables[i + v * elements]: density, three momenta, energy. Own values
// are read along rows, the neighbours' are gathered; CTAs share the elements along the border
// between their parts of the mesh.
#define GAMMA 1.4f
#define SMOOTHING 0.2f
#define NEIGHBOURS 4
#define FACE_WING (-1)      // neighbour of an element at a solid wall
#define FACE_FAR_FIELD (-2) // neighbour of an element at the outer border

enum { DENSITY, MOMENTUM, ENERGY = MOMENTUM + 3, VARIABLES };

struct State {
  float density, energy, pressure, speed, sound; // speed of the flow and of sound
  float3 momentum, velocity;
};

static __device__ float dot(float3 a, float3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }

static __device__ State state_of(float density, float3 momentum, float energy) {
  State s;
  s.density = density;
  s.momentum = momentum;
  s.energy = energy;
  s.velocity = make_float3(momentum.x / density, momentum.y / density, momentum.z / density);
  float square = dot(s.velocity, s.velocity);
  s.speed = sqrtf(square);
  s.pressure = (GAMMA - 1.0f) * (energy - 0.5f * density * square);
  s.sound = sqrtf(GAMMA * s.pressure / density);
  return s;
}

static __device__ State load_state(const float *variables, int i, int elements) {
  float3 momentum = make_float3(variables[i + MOMENTUM * elements], variables[i + (MOMENTUM + 1) * elements],
                                variables[i + (MOMENTUM + 2) * elements]);
  return state_of(variables[i + DENSITY * elements], momentum, variables[i + ENERGY * elements]);
}

// Flow along x at Mach 1.2, where density is 1.4, pressure 1 and the speed of sound 1.
static __device__ State far_field() {
  return state_of(1.4f, make_float3(1.4f * 1.2f, 0.0f, 0.0f),
                  1.0f / (GAMMA - 1.0f) + 0.5f * 1.4f * 1.2f * 1.2f);
}

// Adds the flux that half of state s carries through a face. `normal` is the face's area vector.
static __device__ void add_flux(float flux[VARIABLES], const State &s, float3 normal) {
  float3 half = make_float3(0.5f * normal.x, 0.5f * normal.y, 0.5f * normal.z);
  float through = dot(half, s.velocity);
  flux[DENSITY] += through * s.density;
  flux[MOMENTUM] += through * s.momentum.x + half.x * s.pressure;
  flux[MOMENTUM + 1] += through * s.momentum.y + half.y * s.pressure;
  flux[MOMENTUM + 2] += through * s.momentum.z + half.z * s.pressure;
  flux[ENERGY] += through * (s.energy + s.pressure);
}

extern "C" __global__ void cfd_copy(const float *variables, float *old, int elements) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= elements) return;
  for (int v = 0; v < VARIABLES; v++) old[i + v * elements] = variables[i + v * elements];
}

extern "C" __global__ void cfd_step_factor(const float *variables, const float *volume, float *step_factor,
                                           int elements) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= elements) return;
  State s = load_state(variables, i, elements);
  step_factor[i] = 0.5f / (sqrtf(volume[i]) * (s.speed + s.sound));
}

// Normals point inwards: normal k of element i is normal[i + (3 * k + axis) * elements].
extern "C" __global__ void cfd_flux(const int *neighbour, const float *normal, const float *variables,
                                    float *fluxes, int elements) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= elements) return;
  State own = load_state(variables, i, elements);
  float flux[VARIABLES] = {0.0f, 0.0f, 0.0f, 0.0f, 0.0f};
  for (int k = 0; k < NEIGHBOURS; k++) {
    int j = neighbour[i + k * elements];
    float3 n = make_float3(normal[i + 3 * k * elements], normal[i + (3 * k + 1) * elements],
                           normal[i + (3 * k + 2) * elements]);
    if (j >= 0) {
      State other = load_state(variables, j, elements);
      float factor =
          -sqrtf(dot(n, n)) * SMOOTHING * 0.5f * (own.speed + other.speed + own.sound + other.sound);
      flux[DENSITY] += factor * (own.density - other.density);
      flux[MOMENTUM] += factor * (own.momentum.x - other.momentum.x);
      flux[MOMENTUM + 1] += factor * (own.momentum.y - other.momentum.y);
      flux[MOMENTUM + 2] += factor * (own.momentum.z - other.momentum.z);
      flux[ENERGY] += factor * (own.energy - other.energy);
      add_flux(flux, own, n);
      add_flux(flux, other, n);
    } else if (j == FACE_FAR_FIELD) {
      add_flux(flux, own, n);
      add_flux(flux, far_field(), n);
    } else if (j == FACE_WING) {
      flux[MOMENTUM] += n.x * own.pressure;
      flux[MOMENTUM + 1] += n.y * own.pressure;
      flux[MOMENTUM + 2] += n.z * own.pressure;
    }
  }
  for (int v = 0; v < VARIABLES; v++) fluxes[i + v * elements] = flux[v];
}

// Stage 1, 2, 3 goes a third, a half, all of the step.
extern "C" __global__ void cfd_time_step(const float *old, const float *step_factor, const float *fluxes,
                                         float *variables, int elements, int stage) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= elements) return;
  float factor = step_factor[i] / (4 - stage);
  for (int v = 0; v < VARIABLES; v++)
    variables[i + v * elements] = old[i + v * elements] + factor * fluxes[i + v * elements];
}
